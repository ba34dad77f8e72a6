/* RTP and RTCP by GStreamer: the workloads of bench/peers/rtp over the files that its rtp-packets writes.
 *
 *     rtp-gstreamer FOLDER PASSES
 *
 * A file holds packets one behind the other, each behind its size: four bytes, the highest first. Each workload is
 * done once for its answer and then PASSES times; a line of JSON for each has the nanoseconds a packet of every pass.
 *
 * Headers and RTCP are those of gstreamer-rtp. The jitter buffer is the element rtpjitterbuffer between two pads, with
 * the thread of its own that hands out packets; what it keeps of statistics cannot be had without it.
 */
#include <gst/gst.h>
#include <gst/rtp/rtp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SSRC = 1, UNIT_BYTES = 160, MAX_PASSES = 10000 };

/* Play-out may wait for 64 packets of 20 ms. */
static const guint LATENCY_MS = 64 * 20;

/* Packets in a row before the stream, which are not counted: with them play-out begins. Without them the first packet
 * waits for the latency, on the real clock. */
enum { LEAD = 2 };

/* The element's thread is given up after this; it has no packet that it waits for. */
static const gint64 DEADLINE_US = 60 * G_TIME_SPAN_SECOND;

typedef struct {
  guint count;
  guint8 **bytes;
  guint32 *sizes;
} Packets;

typedef void (*Work)(const Packets *packets, char *answer, gint64 *took_us);

/* What the compiler may not leave out. */
static volatile guint64 sink;

static const guint ANSWER_BYTES = 200;

static void fail(const char *what, const char *where) {
  fprintf(stderr, "rtp-gstreamer: %s: %s\n", where, what);
  exit(1);
}

static guint64 sum(const guint8 *bytes, gsize size) {
  guint64 total = 0;
  for (gsize at = 0; at < size; at++) total += bytes[at];
  return total;
}

static Packets read_packets(const char *folder, const char *name) {
  char *path = g_strdup_printf("%s/%s.packets", folder, name), *content;
  gsize size;
  if (!g_file_get_contents(path, &content, &size, NULL)) fail("cannot be read", path);
  Packets packets = {0};
  for (gsize at = 0; at + 4 <= size;) {
    guint32 bytes = GST_READ_UINT32_BE(content + at);
    if (bytes > size - at - 4) fail("a packet is cut off", path);
    guint number = packets.count++;
    packets.bytes = g_renew(guint8 *, packets.bytes, packets.count);
    packets.sizes = g_renew(guint32, packets.sizes, packets.count);
    packets.bytes[number] = (guint8 *)content + at + 4;
    packets.sizes[number] = bytes;
    at += 4 + bytes;
  }
  g_free(path);
  return packets;
}

/* Buffers around the bytes, without a copy. */
static GstBuffer **wrapped(const Packets *packets) {
  GstBuffer **buffers = g_new(GstBuffer *, packets->count);
  for (guint at = 0; at < packets->count; at++)
    buffers[at] = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, packets->bytes[at], packets->sizes[at], 0,
                                              packets->sizes[at], NULL, NULL);
  return buffers;
}

static void release(GstBuffer **buffers, guint count) {
  for (guint at = 0; at < count; at++) gst_buffer_unref(buffers[at]);
  g_free(buffers);
}

static void parse(const Packets *packets, char *answer, gint64 *took_us) {
  GstBuffer **buffers = wrapped(packets);
  guint64 sequences = 0, others = 0, payload = 0;
  gint64 start = g_get_monotonic_time();
  for (guint at = 0; at < packets->count; at++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    if (!gst_rtp_buffer_map(buffers[at], GST_MAP_READ, &rtp)) fail("refused", "parse");
    sequences += gst_rtp_buffer_get_seq(&rtp);
    others += gst_rtp_buffer_get_marker(&rtp) + gst_rtp_buffer_get_payload_type(&rtp) +
              gst_rtp_buffer_get_timestamp(&rtp) + gst_rtp_buffer_get_ssrc(&rtp);
    const guint8 *unit = gst_rtp_buffer_get_payload(&rtp);
    guint size = gst_rtp_buffer_get_payload_len(&rtp);
    if (answer) payload += sum(unit, size);
    others += unit[0] + size;
    gst_rtp_buffer_unmap(&rtp);
  }
  *took_us = g_get_monotonic_time() - start;
  sink += others;
  release(buffers, packets->count);
  if (answer)
    snprintf(answer, ANSWER_BYTES, "%u packets, sequences %" G_GUINT64_FORMAT ", payload %" G_GUINT64_FORMAT,
             packets->count, sequences, payload);
}

/* Elements are asked for by identifier; those of the file are 1 and 2. */
static void elements(const Packets *packets, char *answer, gint64 *took_us) {
  GstBuffer **buffers = wrapped(packets);
  guint64 count = 0, total = 0;
  gint64 start = g_get_monotonic_time();
  for (guint at = 0; at < packets->count; at++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    if (!gst_rtp_buffer_map(buffers[at], GST_MAP_READ, &rtp)) fail("refused", "elements");
    for (guint8 id = 1; id <= 2; id++) {
      gpointer data;
      guint size;
      if (!gst_rtp_buffer_get_extension_onebyte_header(&rtp, id, 0, &data, &size)) continue;
      count++;
      total += id + sum(data, size);
    }
    gst_rtp_buffer_unmap(&rtp);
  }
  *took_us = g_get_monotonic_time() - start;
  release(buffers, packets->count);
  if (answer)
    snprintf(answer, ANSWER_BYTES, "%" G_GUINT64_FORMAT " elements, sum %" G_GUINT64_FORMAT, count, total);
}

/* A new buffer for each packet: that is how its payloaders build them. */
static void build(const Packets *packets, char *answer, gint64 *took_us) {
  guint64 total = 0;
  gint64 start = g_get_monotonic_time();
  for (guint at = 0; at < packets->count; at++) {
    GstBuffer *buffer = gst_rtp_buffer_new_allocate(UNIT_BYTES, 0, 0);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    gst_rtp_buffer_map(buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_payload_type(&rtp, 0);
    gst_rtp_buffer_set_seq(&rtp, (guint16)at);
    gst_rtp_buffer_set_timestamp(&rtp, at * UNIT_BYTES);
    gst_rtp_buffer_set_ssrc(&rtp, SSRC);
    memcpy(gst_rtp_buffer_get_payload(&rtp), packets->bytes[at] + 12, UNIT_BYTES);
    gst_rtp_buffer_unmap(&rtp);
    if (answer) {
      GstMapInfo map;
      gst_buffer_map(buffer, &map, GST_MAP_READ);
      total += sum(map.data, map.size);
      gst_buffer_unmap(buffer, &map);
    }
    gst_buffer_unref(buffer);
  }
  *took_us = g_get_monotonic_time() - start;
  if (answer) snprintf(answer, ANSWER_BYTES, "sum %" G_GUINT64_FORMAT, total);
}

/* What comes out of the jitter buffer. */
static struct {
  GMutex lock;
  GCond ended;
  gboolean has_ended;
  guint played, misplaced;
  guint16 next;
} output;

static GstFlowReturn on_packet(GstPad *pad, GstObject *parent, GstBuffer *buffer) {
  (void)pad, (void)parent;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gst_rtp_buffer_map(buffer, GST_MAP_READ, &rtp);
  guint16 sequence = gst_rtp_buffer_get_seq(&rtp);
  gst_rtp_buffer_unmap(&rtp);
  gst_buffer_unref(buffer);
  output.misplaced += sequence != output.next;
  output.next = sequence + 1;
  output.played++;
  return GST_FLOW_OK;
}

static gboolean on_event(GstPad *pad, GstObject *parent, GstEvent *event) {
  (void)pad, (void)parent;
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    g_mutex_lock(&output.lock);
    output.has_ended = TRUE;
    g_cond_signal(&output.ended);
    g_mutex_unlock(&output.lock);
  }
  gst_event_unref(event);
  return TRUE;
}

static void push(GstPad *source, GstBuffer *buffer, guint number) {
  GST_BUFFER_DTS(buffer) = GST_BUFFER_PTS(buffer) = number * 20 * GST_MSECOND;
  gst_pad_push(source, buffer);
}

static void begin(GstPad *source) {
  GstCaps *caps = gst_caps_from_string("application/x-rtp, media=audio, clock-rate=8000, encoding-name=PCMU, payload=0");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(source, gst_event_new_stream_start("rtp"));
  gst_pad_push_event(source, gst_event_new_caps(caps));
  gst_pad_push_event(source, gst_event_new_segment(&segment));
  gst_caps_unref(caps);
  for (guint number = 0; number < LEAD; number++) {
    GstBuffer *buffer = gst_rtp_buffer_new_allocate(UNIT_BYTES, 0, 0);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    gst_rtp_buffer_map(buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_seq(&rtp, (guint16)(number - LEAD));
    gst_rtp_buffer_set_timestamp(&rtp, (number - LEAD) * UNIT_BYTES);
    gst_rtp_buffer_set_ssrc(&rtp, SSRC);
    gst_rtp_buffer_unmap(&rtp);
    push(source, buffer, number);
  }
}

static void wait_for_end(void) {
  gint64 deadline = g_get_monotonic_time() + DEADLINE_US;
  g_mutex_lock(&output.lock);
  while (!output.has_ended)
    if (!g_cond_wait_until(&output.ended, &output.lock, deadline)) fail("it does not end", "rtpjitterbuffer");
  g_mutex_unlock(&output.lock);
}

static void play(const Packets *packets, char *answer, gint64 *took_us) {
  GstBuffer **buffers = wrapped(packets);
  GstElement *element = gst_element_factory_make("rtpjitterbuffer", NULL);
  if (!element) fail("is not installed", "rtpjitterbuffer");
  g_object_set(element, "latency", LATENCY_MS, "faststart-min-packets", LEAD, NULL);
  GstPad *source = gst_pad_new("src", GST_PAD_SRC), *drain = gst_pad_new("sink", GST_PAD_SINK);
  gst_pad_set_chain_function(drain, on_packet);
  gst_pad_set_event_function(drain, on_event);
  GstPad *in = gst_element_get_static_pad(element, "sink"), *out = gst_element_get_static_pad(element, "src");
  gst_pad_set_active(source, TRUE);
  gst_pad_set_active(drain, TRUE);
  gst_pad_link(source, in);
  gst_pad_link(out, drain);
  output.has_ended = FALSE;
  output.played = output.misplaced = 0;
  output.next = (guint16)-LEAD;
  GstClock *clock = gst_system_clock_obtain();
  gst_element_set_clock(element, clock);
  gst_element_set_base_time(element, gst_clock_get_time(clock));
  gst_element_set_state(element, GST_STATE_PLAYING);
  begin(source);
  gint64 start = g_get_monotonic_time();
  for (guint at = 0; at < packets->count; at++) push(source, buffers[at], LEAD + at);
  gst_pad_push_event(source, gst_event_new_eos());
  wait_for_end();
  *took_us = g_get_monotonic_time() - start;
  gst_element_set_state(element, GST_STATE_NULL);
  if (answer) snprintf(answer, ANSWER_BYTES, "%u played, %u out of place", output.played - LEAD, output.misplaced);
  g_free(buffers);
  gst_object_unref(in);
  gst_object_unref(out);
  gst_object_unref(source);
  gst_object_unref(drain);
  gst_object_unref(clock);
  gst_object_unref(element);
}

typedef struct {
  guint32 ssrc, highest, jitter, last_sr, delay;
  guint8 fraction;
  gint32 lost;
} Block;

static void get_block(GstRTCPPacket *packet, Block *block) {
  gst_rtcp_packet_get_rb(packet, 0, &block->ssrc, &block->fraction, &block->lost, &block->highest, &block->jitter,
                         &block->last_sr, &block->delay);
}

static void reports(const Packets *compounds, char *answer, gint64 *took_us) {
  Block *blocks = g_new0(Block, compounds->count);
  GstBuffer **buffers = wrapped(compounds);
  for (guint at = 0; at < compounds->count; at++) {
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    GstRTCPPacket packet;
    gst_rtcp_buffer_map(buffers[at], GST_MAP_READ, &rtcp);
    if (!gst_rtcp_buffer_get_first_packet(&rtcp, &packet)) fail("refused", "SR");
    get_block(&packet, &blocks[at]);
    gst_rtcp_buffer_unmap(&rtcp);
  }
  guint64 total = 0;
  gint64 start = g_get_monotonic_time();
  for (guint at = 0; at < compounds->count; at++) {
    const Block *block = &blocks[at];
    GstBuffer *buffer = gst_rtcp_buffer_new(100);
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    GstRTCPPacket packet;
    gst_rtcp_buffer_map(buffer, GST_MAP_READWRITE, &rtcp);
    gst_rtcp_buffer_add_packet(&rtcp, GST_RTCP_TYPE_RR, &packet);
    gst_rtcp_packet_rr_set_ssrc(&packet, SSRC);
    gst_rtcp_packet_add_rb(&packet, block->ssrc, block->fraction, block->lost, block->highest, block->jitter,
                           block->last_sr, block->delay);
    gst_rtcp_buffer_unmap(&rtcp);
    if (answer) {
      GstMapInfo map;
      gst_buffer_map(buffer, &map, GST_MAP_READ);
      total += sum(map.data, map.size);
      gst_buffer_unmap(buffer, &map);
    }
    gst_buffer_unref(buffer);
  }
  *took_us = g_get_monotonic_time() - start;
  release(buffers, compounds->count);
  g_free(blocks);
  if (answer) snprintf(answer, ANSWER_BYTES, "sum %" G_GUINT64_FORMAT, total);
}

static guint64 read_packet(GstRTCPPacket *packet, gboolean with_texts) {
  guint64 ntp, total = 0;
  guint32 ssrc, rtp_timestamp, count, octets;
  Block block = {0};
  GstRTCPSDESType type;
  guint8 size, *text;
  switch (gst_rtcp_packet_get_type(packet)) {
    case GST_RTCP_TYPE_SR:
      gst_rtcp_packet_sr_get_sender_info(packet, &ssrc, &ntp, &rtp_timestamp, &count, &octets);
      get_block(packet, &block);
      sink += ntp + rtp_timestamp + octets + block.ssrc + block.lost + block.highest + block.delay + block.fraction;
      return (guint64)ssrc + count + block.jitter;
    case GST_RTCP_TYPE_SDES:
      gst_rtcp_packet_sdes_first_item(packet);
      gst_rtcp_packet_sdes_first_entry(packet);
      if (!gst_rtcp_packet_sdes_get_entry(packet, &type, &size, &text)) fail("refused", "SDES");
      sink += gst_rtcp_packet_sdes_get_ssrc(packet) + text[0];
      return with_texts ? sum(text, size) : 0;
    case GST_RTCP_TYPE_BYE: {
      total = gst_rtcp_packet_bye_get_nth_ssrc(packet, 0);
      char *reason = gst_rtcp_packet_bye_get_reason(packet);
      if (with_texts && reason) total += sum((guint8 *)reason, strlen(reason));
      g_free(reason);
      return total;
    }
    default:
      return 0;
  }
}

static void compound(const Packets *compounds, char *answer, gint64 *took_us) {
  GstBuffer **buffers = wrapped(compounds);
  guint64 total = 0;
  gint64 start = g_get_monotonic_time();
  for (guint at = 0; at < compounds->count; at++) {
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    GstRTCPPacket packet;
    if (!gst_rtcp_buffer_validate(buffers[at])) fail("refused", "compound");
    gst_rtcp_buffer_map(buffers[at], GST_MAP_READ, &rtcp);
    for (gboolean more = gst_rtcp_buffer_get_first_packet(&rtcp, &packet); more;
         more = gst_rtcp_packet_move_to_next(&packet))
      total += read_packet(&packet, answer != NULL);
    gst_rtcp_buffer_unmap(&rtcp);
  }
  *took_us = g_get_monotonic_time() - start;
  sink += total;
  release(buffers, compounds->count);
  if (answer) snprintf(answer, ANSWER_BYTES, "%u compounds, sum %" G_GUINT64_FORMAT, compounds->count, total);
}

static void measure(const char *workload, guint passes, Work work, const Packets *packets) {
  char answer[200];
  gint64 took_us;
  work(packets, answer, &took_us);
  printf("{\"workload\": \"%s\", \"library\": \"GStreamer\", \"answer\": \"%s\", \"ns\": [", workload, answer);
  for (guint pass = 0; pass < passes; pass++) {
    work(packets, NULL, &took_us);
    printf("%s%.3f", pass ? ", " : "", took_us * 1e3 / packets->count);
  }
  printf("]}\n");
}

int main(int count, char **arguments) {
  if (count != 3) fail("usage: rtp-gstreamer FOLDER PASSES", "arguments");
  const char *folder = arguments[1];
  guint passes = (guint)CLAMP(atoi(arguments[2]), 1, MAX_PASSES);
  gst_init(NULL, NULL);
  Packets plain = read_packets(folder, "in-order"), extended = read_packets(folder, "extended");
  measure("parse", passes, parse, &plain);
  measure("parse, elements walked", passes, elements, &extended);
  measure("build with copy", passes, build, &plain);
  Packets slightly = read_packets(folder, "slightly-out"), largely = read_packets(folder, "largely-out");
  measure("jitter buffer, in order", passes, play, &plain);
  measure("jitter buffer, slightly out", passes, play, &slightly);
  measure("jitter buffer, largely out", passes, play, &largely);
  Packets compounds = read_packets(folder, "compounds");
  measure("RR build", passes, reports, &compounds);
  measure("compound parse", passes, compound, &compounds);
  return 0;
}
