//! A proxy in front of PostgreSQL that can drop what the database sends, such as an answer after it has
//! committed, and the connection with it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Drops messages of the database that contain certain bytes, one after the other.
pub(crate) struct DropProxy {
    mark: &'static [u8],
    to_drop: AtomicUsize,
    dropped: AtomicUsize,
}

impl DropProxy {
    /// Listens on a free port of loopback. Returns the proxy and its port.
    pub(crate) fn start(server: u16, mark: &'static [u8]) -> (Arc<Self>, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (to_drop, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let proxy = Arc::new(Self { mark, to_drop, dropped });
        let shared = Arc::clone(&proxy);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(database) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let proxy = Arc::clone(&shared);
                let (from_client, to_database) =
                    (client.try_clone().unwrap(), database.try_clone().unwrap());
                std::thread::spawn(move || copy(from_client, to_database, |_| false));
                std::thread::spawn(move || copy(database, client, |bytes| proxy.drops(bytes)));
            }
        });
        (proxy, port)
    }

    pub(crate) fn drop_next(&self, answers: usize) {
        self.to_drop.store(answers, Ordering::SeqCst);
    }

    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    fn drops(&self, bytes: &[u8]) -> bool {
        let is_answer = bytes.windows(self.mark.len()).any(|window| window == self.mark);
        let takes = |left: usize| left.checked_sub(1);
        if is_answer && self.to_drop.fetch_update(Ordering::SeqCst, Ordering::SeqCst, takes).is_ok()
        {
            self.dropped.fetch_add(1, Ordering::SeqCst);
            return true;
        }
        false
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, drops: impl Fn(&[u8]) -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length) = from.read(&mut buffer)
        && length > 0
        && !drops(&buffer[..length])
        && to.write_all(&buffer[..length]).is_ok()
    {}
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}
