//! SPIR-V types: memory layout, and the scalar leaves that a value of the type is split into.
use super::error::Res;
use super::module::IdMap;
use crate::ir::Ty;
use spirv::StorageClass;

/// Values of more leaves are refused: they belong in memory.
const MAX_LEAVES: u64 = 1 << 16;
const MAX_NESTING: u32 = 64;
/// Pointee of a pointer type that is declared, not defined; no type has this id.
const UNDEFINED: u32 = 0;

/// What a type is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Void,
    Scalar(Ty),
    Vector {
        element: u32,
        count: u32,
    },
    Array {
        element: u32,
        count: u64,
    },
    Struct {
        members: Vec<u32>,
        offsets: Vec<u64>,
    },
    Pointer {
        space: Ty,
        class: StorageClass,
        pointee: u32,
    },
    Function {
        result: u32,
        params: Vec<u32>,
    },
    /// Cannot be a value here; why.
    Opaque(String),
}

/// A type with its layout.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub kind: Kind,
    pub size: u64,
    pub align: u64,
    pub leaves: u64,
    depth: u32,
}

/// A leaf of a type: scalar type and byte offset in memory.
#[derive(Copy, Clone, Debug)]
pub(super) struct Leaf {
    pub ty: Ty,
    pub offset: u64,
}

/// All types by id.
#[derive(Default)]
pub(super) struct Types {
    map: IdMap<Type>,
}

/// Bytes of a scalar in memory (pointers take 8 in every address space).
pub(super) fn memory_bytes(ty: Ty) -> u64 {
    match ty {
        Ty::Bool => 1,
        Ty::PtrLocal | Ty::PtrPrivate => 8,
        t => u64::from(t.bits() / 8),
    }
}

/// The IR's address space of a storage class.
pub(super) fn space(class: StorageClass) -> Option<Ty> {
    Some(match class {
        StorageClass::Function | StorageClass::Private => Ty::PtrPrivate,
        StorageClass::CrossWorkgroup | StorageClass::DeviceOnlyALTERA | StorageClass::HostOnlyALTERA => Ty::PtrGlobal,
        StorageClass::UniformConstant | StorageClass::Input => Ty::PtrConstant,
        StorageClass::Workgroup => Ty::PtrLocal,
        StorageClass::Generic => Ty::PtrGeneric,
        _ => return None,
    })
}

impl Types {
    /// The type with this id.
    pub fn get(&self, id: u32) -> Res<&Type> {
        self.map.get(&id).ok_or_else(|| format!("%{id} is not a type"))
    }
    fn insert(&mut self, id: u32, kind: Kind, size: u64, align: u64, leaves: u64, depth: u32) -> Res<()> {
        if depth > MAX_NESTING {
            return Err(format!("types nest deeper than {MAX_NESTING} levels"));
        }
        match self.map.insert(id, Type { kind, size, align, leaves, depth }) {
            None | Some(Type { kind: Kind::Pointer { pointee: UNDEFINED, .. }, .. }) => Ok(()),
            Some(_) => Err(format!("%{id} is defined twice")),
        }
    }
    /// Declares a pointer type that OpTypePointer defines later: its size is known, what it points to is not. Structs
    /// that point to themselves need it.
    pub fn declare_pointer(&mut self, id: u32, class: StorageClass) -> Res<()> {
        match space(class) {
            Some(space) => self.add_simple(id, Kind::Pointer { space, class, pointee: UNDEFINED }),
            None => Ok(()),
        }
    }
    /// Adds a type without parts.
    pub fn add_simple(&mut self, id: u32, kind: Kind) -> Res<()> {
        let (size, leaves) = match &kind {
            Kind::Scalar(ty) => (memory_bytes(*ty), 1),
            Kind::Pointer { .. } => (8, 1),
            Kind::Opaque(_) => (8, 1),
            _ => (0, 0),
        };
        self.insert(id, kind, size, size.max(1), leaves, 0)
    }
    /// Adds a vector.
    pub fn add_vector(&mut self, id: u32, element: u32, count: u32) -> Res<()> {
        // LLVM's scalar replacement leaves vectors of one element behind, which the translator hands on.
        if !matches!(count, 1 | 2 | 3 | 4 | 8 | 16) {
            return Err(format!("a vector of {count} elements (2, 3, 4, 8 and 16 exist)"));
        }
        let e = self.get(element)?;
        let Kind::Scalar(_) = e.kind else { return Err("a vector of other than scalars".into()) };
        let size = e.size * u64::from(count.next_power_of_two());
        let depth = e.depth + 1;
        self.insert(id, Kind::Vector { element, count }, size, size, u64::from(count), depth)
    }
    /// Adds an array.
    pub fn add_array(&mut self, id: u32, element: u32, count: u64) -> Res<()> {
        let e = self.get(element)?;
        let too_big = || "an array larger than the address space".to_string();
        let size = e.size.checked_mul(count).filter(|&s| s < 1 << 48).ok_or_else(too_big)?;
        let leaves = e.leaves.saturating_mul(count);
        let (align, depth) = (e.align, e.depth + 1);
        self.insert(id, Kind::Array { element, count }, size, align, leaves, depth)
    }
    /// Adds a struct.
    pub fn add_struct(&mut self, id: u32, members: Vec<u32>, packed: bool) -> Res<()> {
        let (mut size, mut align, mut leaves, mut depth) = (0u64, 1u64, 0u64, 0);
        let mut offsets = Vec::with_capacity(members.len());
        for &m in &members {
            let t = self.get(m)?;
            let a = if packed { 1 } else { t.align };
            let at = size.next_multiple_of(a);
            offsets.push(at);
            size = at + t.size;
            align = align.max(a);
            leaves = leaves.saturating_add(t.leaves);
            depth = depth.max(t.depth + 1);
            if size >= 1 << 48 {
                return Err("a struct larger than the address space".into());
            }
        }
        let size = size.next_multiple_of(align);
        self.insert(id, Kind::Struct { members, offsets }, size, align, leaves, depth)
    }
    /// The leaves of a type in order.
    pub fn leaves(&self, id: u32) -> Res<Vec<Leaf>> {
        let t = self.get(id)?;
        if t.leaves > MAX_LEAVES {
            return Err(format!("a value of {} scalars (at most {MAX_LEAVES}): keep it in memory", t.leaves));
        }
        let mut list = Vec::with_capacity(t.leaves as usize);
        self.collect(id, 0, &mut list)?;
        Ok(list)
    }
    /// The leaves' types.
    pub fn leaf_types(&self, id: u32) -> Res<Vec<Ty>> {
        Ok(self.leaves(id)?.into_iter().map(|l| l.ty).collect())
    }
    fn collect(&self, id: u32, base: u64, list: &mut Vec<Leaf>) -> Res<()> {
        let t = self.get(id)?;
        if t.leaves == 0 {
            return Ok(());
        }
        match &t.kind {
            Kind::Scalar(ty) => list.push(Leaf { ty: *ty, offset: base }),
            Kind::Pointer { space, .. } => list.push(Leaf { ty: *space, offset: base }),
            Kind::Vector { element, count } => {
                let step = self.get(*element)?.size;
                for i in 0..u64::from(*count) {
                    self.collect(*element, base + i * step, list)?;
                }
            }
            Kind::Array { element, count } => {
                let step = self.get(*element)?.size;
                for i in 0..*count {
                    self.collect(*element, base + i * step, list)?;
                }
            }
            Kind::Struct { members, offsets } => {
                for (&m, &o) in members.iter().zip(offsets) {
                    self.collect(m, base + o, list)?;
                }
            }
            Kind::Void => {}
            Kind::Function { .. } => return Err("a function type where a value is expected".into()),
            Kind::Opaque(why) => return Err(why.clone()),
        }
        Ok(())
    }
    /// A pointer type's address space and pointee.
    pub fn pointer(&self, id: u32) -> Res<(Ty, u32)> {
        match &self.get(id)?.kind {
            Kind::Pointer { space, pointee, .. } => Ok((*space, *pointee)),
            _ => Err(format!("%{id} is not a pointer type")),
        }
    }
    /// The scalar type of a scalar or of a vector's elements (pointers too), and the number of elements.
    pub fn scalar(&self, id: u32) -> Res<(Ty, usize)> {
        match &self.get(id)?.kind {
            Kind::Scalar(ty) => Ok((*ty, 1)),
            Kind::Pointer { space, .. } => Ok((*space, 1)),
            Kind::Vector { element, count } => Ok((self.scalar(*element)?.0, *count as usize)),
            Kind::Opaque(why) => Err(why.clone()),
            _ => Err(format!("%{id} is not a scalar or vector type")),
        }
    }
    /// Part `index` of a composite: its type, its first leaf's number and its byte offset.
    pub fn part(&self, id: u32, index: u64) -> Res<(u32, usize, u64)> {
        let t = self.get(id)?;
        let out_of_range = || format!("index {index} is outside the composite type %{id}");
        match &t.kind {
            Kind::Vector { element, count } if index < u64::from(*count) => {
                Ok((*element, index as usize, index * self.get(*element)?.size))
            }
            Kind::Array { element, count } if index < *count => {
                let e = self.get(*element)?;
                let leaf = e.leaves.checked_mul(index).filter(|&l| l < u64::from(u32::MAX)).ok_or_else(out_of_range)?;
                Ok((*element, leaf as usize, index * e.size))
            }
            Kind::Struct { members, offsets } if index < members.len() as u64 => {
                let n = index as usize;
                let mut first = 0u64;
                for &m in &members[..n] {
                    first = first.saturating_add(self.get(m)?.leaves);
                }
                Ok((members[n], first.min(u64::from(u32::MAX)) as usize, offsets[n]))
            }
            _ => Err(out_of_range()),
        }
    }
}
