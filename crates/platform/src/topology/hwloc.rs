//! The topology as hwloc reads it from the kernel.

use bitpath_measure::environment::Topology;
use hwlocality::Topology as Hwloc;
use hwlocality::object::TopologyObject;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::TypeFilter;

pub(super) fn topology() -> Option<Topology> {
    let all = Hwloc::builder().with_io_type_filter(TypeFilter::KeepImportant).ok()?.build().ok()?;
    let of = |kind: ObjectType| all.objects_with_type(kind).map(processors).collect::<Vec<_>>();
    let last_caches = LAST_CACHES.map(of).into_iter().find(|caches| !caches.is_empty());
    Some(Topology {
        packages: all.objects_with_type(ObjectType::Package).count(),
        memory_nodes: of(ObjectType::NUMANode),
        cache_domains: last_caches.unwrap_or_default(),
        cores: of(ObjectType::Core),
        near_nics: all.objects_with_type(ObjectType::OSDevice).filter_map(near_nic).collect(),
    })
}

/// Caches that are shared, the farthest from the core first.
const LAST_CACHES: [ObjectType; 3] =
    [ObjectType::L4Cache, ObjectType::L3Cache, ObjectType::L2Cache];

/// Name of an interface, and the processors near to it.
fn near_nic(device: &TopologyObject) -> Option<(String, Vec<usize>)> {
    let name = device.name()?.to_str().ok()?;
    let is_interface = std::path::Path::new("/sys/class/net").join(name).exists();
    let near = device.first_non_io_ancestor().filter(|_| is_interface)?;
    Some((name.to_owned(), processors(near)))
}

/// Numbers of an object's processors, as the kernel counts them.
fn processors(object: &TopologyObject) -> Vec<usize> {
    let set = object.cpuset();
    set.map(|set| set.iter_set().map(usize::from).collect()).unwrap_or_default()
}
