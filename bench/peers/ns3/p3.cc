// P3 by the core of ns-3: its event list and callbacks, no packets and no devices.
//
//   p3 SCHEDULER packets repeats      SCHEDULER: a class of ns-3, such as ns3::MapScheduler
//
// Events at one nanosecond go from the last stage to the first and arrivals last. ns-3 breaks
// ties by the order of scheduling, so a tick of its clock is a quarter of a nanosecond and the
// quarter is the place of the event, as in ../p3/src/lib.rs.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <ns3/core-module.h>

namespace {

enum Event : unsigned { User, Kernel, Nic, Arrival };

// Slots [packets] and times for a packet [ns] of user, kernel and NIC.
constexpr std::array<unsigned, 3> kSlots = {32, 140, 43};
constexpr std::array<int64_t, 3> kServiceNs = {1000, 1300, 900};

// NIC ring, kernel buffer and user buffer.
class Path {
 public:
  explicit Path(uint64_t packets) : packets_left_(packets) {
    ns3::Simulator::Schedule(ns3::NanoSeconds(Arrival), &Path::Arrive, this);
  }

  uint64_t delivered = 0, nic_drops = 0, kernel_drops = 0;

 private:
  // Schedules an event a whole number of nanoseconds after this one's.
  template <typename... Arguments>
  void After(int64_t nanos, Event event, Arguments... arguments) {
    const int64_t now = ns3::Simulator::Now().GetNanoSeconds();
    const int64_t tick = (now / 4 + nanos) * 4 + event;
    ns3::Simulator::Schedule(ns3::NanoSeconds(tick - now), arguments...);
  }

  void Arrive() {
    if (--packets_left_ > 0) After(1200, Arrival, &Path::Arrive, this);
    if (IsFull(Nic)) {
      ++nic_drops;
    } else {
      Enter(Nic);
    }
  }

  bool IsFull(Event stage) const { return held_[stage] == kSlots[stage]; }

  void Enter(Event stage) {
    if (++held_[stage] == 1) Serve(stage);
  }

  void Serve(Event stage) {
    if (stage == User) ++begun_;
    const bool pauses = stage == User && begun_ % 1000 == 0;
    After(pauses ? 250000 : kServiceNs[stage], stage, &Path::Complete, this, stage);
  }

  void Complete(Event stage) {
    if (stage == Kernel && IsFull(User)) {
      blocked_ = true;
    } else {
      Leave(stage);
    }
  }

  // Moves the finished packet on, serves the next one, and frees the kernel if it waited.
  void Leave(Event stage) {
    if (--held_[stage] > 0) Serve(stage);
    if (stage == User) {
      Deliver();
    } else if (stage == Kernel) {
      Enter(User);
    } else if (IsFull(Kernel)) {
      ++kernel_drops;
    } else {
      Enter(Kernel);
    }
  }

  void Deliver() {
    ++delivered;
    if (blocked_) {
      blocked_ = false;
      Leave(Kernel);
    }
  }

  uint64_t packets_left_;
  uint64_t begun_ = 0;
  std::array<unsigned, 3> held_ = {0, 0, 0};
  bool blocked_ = false;
};

double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: p3 SCHEDULER packets repeats\n");
    return 2;
  }
  ns3::GlobalValue::Bind("SchedulerType", ns3::TypeIdValue(ns3::TypeId::LookupByName(arguments[1])));
  const uint64_t packets = std::strtoull(arguments[2], nullptr, 10);
  const long repeats = std::strtol(arguments[3], nullptr, 10);
  uint64_t delivered = 0, nic_drops = 0, kernel_drops = 0;
  const double start = ProcessorSeconds();
  for (long repeat = 0; repeat < repeats; ++repeat) {
    Path path(packets);
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    delivered = path.delivered;
    nic_drops = path.nic_drops;
    kernel_drops = path.kernel_drops;
  }
  const double seconds = ProcessorSeconds() - start;
  std::printf("{\"delivered\": %lu, \"nic_drops\": %lu, \"kernel_drops\": %lu, \"cpu_seconds\": %.9f}\n",
              delivered, nic_drops, kernel_drops, seconds);
  return 0;
}
