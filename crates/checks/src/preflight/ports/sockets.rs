//! `/proc/net/tcp` and `tcp6`: which ports are listened on, by which socket.

/// `TCP_LISTEN`, as the kernel numbers states.
const LISTEN: &str = "0A";

/// Port and inode of every listening socket. A line that is no socket is passed over: the heading is one.
pub(super) fn listening(table: &str) -> impl Iterator<Item = (u16, u64)> {
    table.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let (_, port) = local.rsplit_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (*state == LISTEN).then_some((port, inode.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31337 1 0000000000000000 100 0 0 10 0
   1: 0B00580A:C2A8 0100580A:1D13 01 00000000:00000000 00:00000000 00000000     0        0 31338 1 0000000000000000 20 4 30 10 -1
   2: 0B00580A:192B 0100580A:1D13 06 00000000:00000000 03:00001769 00000000     0        0 0 3 0000000000000000
";
    const TCP6: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:192B 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31340 1 0000000000000000 100 0 0 10 0
";

    #[test]
    fn only_those_that_listen() {
        assert_eq!(listening(TCP).collect::<Vec<_>>(), [(2379, 31337)]);
        assert_eq!(listening(TCP6).collect::<Vec<_>>(), [(6443, 31340)]);
        assert_eq!(listening("").count(), 0);
    }
}
