//! Miss registers: requests under way to the level below and who waits for them.

use crate::host_cache::prefetch;

/// Index of a miss register.
pub type MshrId = u16;

const NONE: u32 = u32::MAX;

#[derive(Copy, Clone, Debug)]
struct Register {
    line: u64,
    /// Index of the line's tag entry, or `NONE` where the miss brings nothing into the cache.
    entry: u32,
    /// Waiters, oldest first.
    head: u32,
    tail: u32,
    /// Older register of the same line.
    older: u16,
    sectors: u8,
    busy: bool,
}

#[derive(Copy, Clone, Debug)]
struct Node<W> {
    waiter: W,
    next: u32,
}

/// A fixed number of miss registers with waiters of type `W`.
#[derive(Clone, Debug)]
pub struct Mshrs<W> {
    registers: Vec<Register>,
    free: Vec<MshrId>,
    nodes: Vec<Node<W>>,
    free_node: u32,
}

impl<W: Copy> Mshrs<W> {
    /// `count` free registers (at most 65535).
    pub fn new(count: usize) -> Mshrs<W> {
        let count = count.min(usize::from(u16::MAX));
        let unused =
            Register { line: 0, entry: NONE, head: NONE, tail: NONE, older: u16::MAX, sectors: 0, busy: false };
        Mshrs {
            registers: vec![unused; count],
            free: (0..count as u16).rev().collect(),
            nodes: Vec::new(),
            free_node: NONE,
        }
    }

    /// Free registers.
    #[inline(always)]
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Registers in use.
    #[inline(always)]
    pub fn busy(&self) -> usize {
        self.registers.len() - self.free.len()
    }

    /// Takes a register for `sectors` of `line`; `older` is the line's previous register.
    pub fn take(&mut self, line: u64, entry: Option<usize>, sectors: u8, older: MshrId) -> Option<MshrId> {
        let id = self.free.pop()?;
        self.registers[usize::from(id)] = Register {
            line,
            entry: entry.map_or(NONE, |e| e as u32),
            head: NONE,
            tail: NONE,
            older,
            sectors,
            busy: true,
        };
        Some(id)
    }

    /// Lets `waiter` wait for a register.
    pub fn wait(&mut self, id: MshrId, waiter: W) {
        let node = Node { waiter, next: NONE };
        let at = if self.free_node == NONE {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free_node;
            self.free_node = self.nodes[at as usize].next;
            self.nodes[at as usize] = node;
            at
        };
        let register = &mut self.registers[usize::from(id)];
        if register.head == NONE {
            register.head = at;
        } else {
            self.nodes[register.tail as usize].next = at;
        }
        register.tail = at;
    }

    /// Line, tag entry and sectors of a register in use.
    pub fn get(&self, id: MshrId) -> (u64, Option<usize>, u8) {
        let r = &self.registers[usize::from(id)];
        debug_assert!(r.busy);
        (r.line, (r.entry != NONE).then_some(r.entry as usize), r.sectors)
    }

    /// Lets the host bring a register near.
    #[inline(always)]
    pub fn prefetch(&self, id: MshrId) {
        prefetch(std::slice::from_ref(&self.registers[usize::from(id)]));
    }

    /// And those who wait for any: mostly there are few.
    #[inline(always)]
    pub fn prefetch_waiters(&self) {
        prefetch(&self.nodes[..self.nodes.len().min(64)]);
    }

    /// Who waits for a register, oldest first.
    pub fn for_waiters(&self, id: MshrId, mut each: impl FnMut(W)) {
        let mut at = self.registers[usize::from(id)].head;
        while at != NONE {
            let node = &self.nodes[at as usize];
            each(node.waiter);
            at = node.next;
        }
    }

    /// The line's next older register and the sectors of this one.
    #[inline(always)]
    pub fn older(&self, id: MshrId) -> (MshrId, u8) {
        let r = &self.registers[usize::from(id)];
        (r.older, r.sectors)
    }

    /// Takes `id` out of the chain of registers of its line that begins at `newest`; gives the new beginning.
    pub fn unlink(&mut self, newest: MshrId, id: MshrId) -> MshrId {
        let older = self.registers[usize::from(id)].older;
        if newest == id {
            return older;
        }
        let mut at = newest;
        while at != u16::MAX {
            let next = self.registers[usize::from(at)].older;
            if next == id {
                self.registers[usize::from(at)].older = older;
                break;
            }
            at = next;
        }
        newest
    }

    /// Frees a register and hands its waiters to `woken`, oldest first.
    pub fn release(&mut self, id: MshrId, mut woken: impl FnMut(W)) {
        let register = &mut self.registers[usize::from(id)];
        debug_assert!(register.busy, "a register is answered once");
        register.busy = false;
        let mut at = std::mem::replace(&mut register.head, NONE);
        while at != NONE {
            let node = self.nodes[at as usize];
            woken(node.waiter);
            self.nodes[at as usize].next = self.free_node;
            self.free_node = at;
            at = node.next;
        }
        self.free.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiters_are_woken_once_in_order_and_chains_hold() {
        let mut m = Mshrs::new(3);
        let a = m.take(128, Some(1), 1, u16::MAX).unwrap();
        let b = m.take(128, Some(1), 2, a).unwrap();
        let c = m.take(128, Some(1), 4, b).unwrap();
        assert!(m.take(0, None, 1, u16::MAX).is_none());
        (0..5).for_each(|w| m.wait(b, w));
        m.wait(a, 9);
        assert_eq!(m.unlink(c, b), c);
        assert_eq!(m.older(c), (a, 4));
        assert_eq!(m.get(b), (128, Some(1), 2));
        let mut woken = vec![];
        m.release(b, |w| woken.push(w));
        assert_eq!(woken, [0, 1, 2, 3, 4]);
        assert_eq!((m.free(), m.busy()), (1, 2));
        assert_eq!(m.unlink(c, c), a);
        woken.clear();
        m.release(a, |w| woken.push(w));
        assert_eq!(woken, [9]);
    }
}
