//! Memory from the server, so that it counts in its `used_memory` and towards `maxmemory`.

use std::alloc::{GlobalAlloc, Layout};

use redis_module::raw;

/// The largest alignment that the server's allocator gives to everything.
const ALIGNED: usize = 16;

struct ServerAllocator;

/// The size to ask for: a multiple of the alignment, so that an allocator with size classes aligns.
fn size(layout: Layout) -> usize {
    if layout.align() <= ALIGNED {
        layout.size()
    } else {
        layout.size().next_multiple_of(layout.align())
    }
}

/// The functions are there before the first allocation: `RedisModule_OnLoad` asks for them first.
fn unavailable() -> ! {
    std::process::abort()
}

// SAFETY: the server's allocator is the C library's or one with the same contract; what it gave is
// given back to it. Alignments above 16 do not occur: nothing in the module asks for them.
unsafe impl GlobalAlloc for ServerAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            match raw::RedisModule_Alloc {
                Some(alloc) => alloc(size(layout)).cast(),
                None => unavailable(),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            match raw::RedisModule_Calloc {
                Some(calloc) => calloc(1, size(layout)).cast(),
                None => unavailable(),
            }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above; the new size is not zero, as the caller promises.
        unsafe {
            match raw::RedisModule_Realloc {
                Some(realloc) => {
                    let new = Layout::from_size_align_unchecked(new_size, layout.align());
                    realloc(pointer.cast(), size(new)).cast()
                }
                None => unavailable(),
            }
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _: Layout) {
        // SAFETY: as above.
        unsafe {
            match raw::RedisModule_Free {
                Some(free) => free(pointer.cast()),
                None => unavailable(),
            }
        }
    }
}

#[global_allocator]
static ALLOCATOR: ServerAllocator = ServerAllocator;
