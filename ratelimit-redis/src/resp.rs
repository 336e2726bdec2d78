//! The servers' protocol, RESP 2, as far as scripts and their answers need it.
//!
//! The client library speaks it as well, and reads errors here. Its reader, which takes an answer in any number of pieces,
//! costs more time than all else that happens to a decision on its way back.

use redis::{ErrorKind, RedisError, RedisResult, Value, parse_redis_value};

/// Answers are no deeper.
const DEEPEST: u32 = 8;

/// No value is shorter, with its end of line, and no number, status or error is longer.
const SHORTEST: usize = 3;
const LONGEST_LINE: usize = 64 * 1024;

pub(crate) enum Read {
    /// An answer, and how many bytes it takes.
    Whole(Value, usize),
    /// So many bytes at least have not come yet.
    Missing(usize),
}

/// Begins a list of so many texts.
pub(crate) fn write_list(to: &mut Vec<u8>, length: usize) {
    write_number(to, b'*', length);
}

pub(crate) fn write_text(to: &mut Vec<u8>, text: &[u8]) {
    write_number(to, b'$', text.len());
    to.extend_from_slice(text);
    to.extend_from_slice(b"\r\n");
}

fn write_number(to: &mut Vec<u8>, kind: u8, number: usize) {
    to.push(kind);
    to.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    to.extend_from_slice(b"\r\n");
}

/// The answer that `bytes` begin with.
pub(crate) fn read(bytes: &[u8]) -> RedisResult<Read> {
    let mut reader = Reader { bytes, at: 0 };
    match reader.value(DEEPEST, 0) {
        Ok(value) => Ok(Read::Whole(value, reader.at)),
        Err(Stop::Incomplete(missing)) => Ok(Read::Missing(missing)),
        Err(Stop::Nonsense) => Err(RedisError::from((ErrorKind::Parse, "an answer that is none"))),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

enum Stop {
    /// So many bytes are missing, at least.
    Incomplete(usize),
    Nonsense,
}

impl<'a> Reader<'a> {
    /// A value after which so many bytes must come, at least.
    fn value(&mut self, depth: u32, after: usize) -> Result<Value, Stop> {
        let began = self.at;
        let (kind, line) = self.line(after)?.split_first().ok_or(Stop::Nonsense)?;
        match kind {
            b'$' => Ok(length(line)?.map_or(Ok(Value::Nil), |length| self.text(length, after))?),
            b'*' => {
                let Some(length) = length(line)? else { return Ok(Value::Nil) };
                let depth = depth.checked_sub(1).ok_or(Stop::Nonsense)?;
                // Room for no more than can have come, with all that it is in.
                let needed = length.saturating_mul(SHORTEST).saturating_add(after);
                if let missing @ 1.. = needed.saturating_sub(self.bytes.len() - self.at) {
                    return Err(Stop::Incomplete(missing));
                }
                let mut values = Vec::with_capacity(length);
                for left in (0..length).rev() {
                    values.push(self.value(depth, left * SHORTEST + after)?);
                }
                Ok(Value::Array(values))
            }
            b':' => Ok(Value::Int(number(line)?)),
            b'+' => parse_redis_value(&self.bytes[began..self.at]).map_err(|_| Stop::Nonsense),
            b'-' => parse_redis_value(cause(&self.bytes[began..self.at])).map_err(|_| Stop::Nonsense),
            _ => Err(Stop::Nonsense),
        }
    }

    fn line(&mut self, after: usize) -> Result<&'a [u8], Stop> {
        let rest = &self.bytes[self.at..];
        let rest = &rest[..rest.len().min(LONGEST_LINE)];
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            let is_too_long = rest.len() == LONGEST_LINE;
            return Err(if is_too_long { Stop::Nonsense } else { Stop::Incomplete(1 + after) });
        };
        self.at += end + 1;
        rest[..end].strip_suffix(b"\r").ok_or(Stop::Nonsense)
    }

    fn text(&mut self, length: usize, after: usize) -> Result<Value, Stop> {
        let end = length.checked_add(2).ok_or(Stop::Nonsense)?;
        let rest = &self.bytes[self.at..];
        let Some(text) = rest.get(..end) else {
            return Err(Stop::Incomplete(end.saturating_add(after) - rest.len()));
        };
        self.at += end;
        Ok(Value::BulkString(text.strip_suffix(b"\r\n").ok_or(Stop::Nonsense)?.to_vec()))
    }
}

/// Redis 6 first tells where in a script a command was refused, and then why, as an error of its own:
/// `-ERR Error running script (...): @user_script: 12: -OOM command not allowed`.
fn cause(error: &[u8]) -> &[u8] {
    const SCRIPT: &[u8] = b"@user_script: ";
    let Some(place) = error.windows(SCRIPT.len()).rposition(|part| part == SCRIPT) else { return error };
    let line = &error[place + SCRIPT.len()..];
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line[digits..].strip_prefix(b": ").filter(|cause| cause.starts_with(b"-")).unwrap_or(error)
}

/// Of a text or a list. `None` if there is none, which is told as -1.
fn length(line: &[u8]) -> Result<Option<usize>, Stop> {
    match number(line)? {
        -1 => Ok(None),
        length => usize::try_from(length).map(Some).map_err(|_| Stop::Nonsense),
    }
}

fn number(line: &[u8]) -> Result<i64, Stop> {
    str::from_utf8(line).ok().and_then(|line| line.parse().ok()).ok_or(Stop::Nonsense)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(bytes: &[u8]) -> Value {
        let Read::Whole(value, length) = read(bytes).unwrap() else { panic!("not whole") };
        assert_eq!(length, bytes.len());
        value
    }

    fn missing(bytes: &[u8]) -> usize {
        let Read::Missing(missing) = read(bytes).unwrap() else { panic!("whole") };
        missing
    }

    #[test]
    fn reads_what_servers_answer() {
        assert_eq!(whole(b"$5\r\nab\r\nc\r\n"), Value::BulkString(b"ab\r\nc".to_vec()));
        assert_eq!(whole(b"$0\r\n\r\n"), Value::BulkString(Vec::new()));
        assert_eq!([whole(b"$-1\r\n"), whole(b"*-1\r\n")], [Value::Nil, Value::Nil]);
        assert_eq!(whole(b":-7\r\n"), Value::Int(-7));
        assert_eq!(whole(b"+OK\r\n"), Value::Okay);
        assert_eq!(
            whole(b"*3\r\n:1\r\n*1\r\n$1\r\na\r\n*0\r\n"),
            Value::Array(vec![
                Value::Int(1),
                Value::Array(vec![Value::BulkString(b"a".to_vec())]),
                Value::Array(Vec::new())
            ])
        );
    }

    #[test]
    fn an_error_is_told_as_the_client_library_tells_it() {
        let error = whole(b"-READONLY You can't write against a read only replica.\r\n").extract_error();
        assert_eq!(error.unwrap_err().code(), Some("READONLY"));
        let wrapped =
            b"-ERR Error running script (call to f_97): @user_script:312: @user_script: 312: -OOM no.\r\n";
        let error = whole(wrapped).extract_error().unwrap_err();
        assert_eq!((error.code(), error.detail()), (Some("OOM"), Some("no.")));
        let own = b"-ERR Error running script (call to f_97): @user_script:9: the key holds -1\r\n";
        assert_eq!(whole(own).extract_error().unwrap_err().code(), Some("ERR"));
        let Value::Array(answers) = whole(b"*2\r\n-ERR no\r\n:1\r\n") else { panic!("a list") };
        assert!(matches!(answers[..], [Value::ServerError(_), Value::Int(1)]));
    }

    #[test]
    fn an_answer_that_has_not_come_as_a_whole_is_waited_for() {
        let bytes = b"*2\r\n$3\r\nabc\r\n-ERR no\r\n:5\r\n";
        let first = bytes.len() - 4;
        for length in 0..bytes.len() {
            match read(&bytes[..length]).unwrap() {
                Read::Whole(_, taken) => assert_eq!((taken, length >= first), (first, true)),
                Read::Missing(missing) => {
                    assert!((1..=first - length).contains(&missing), "{missing} of {length}");
                }
            }
        }
    }

    #[test]
    fn what_is_announced_and_has_not_come_takes_no_room() {
        assert_eq!(missing(b"$1000\r\nabc"), 999);
        assert_eq!(missing(b"*1000\r\n"), 3000);
        assert_eq!(missing(b"*3\r\n:1\r\n$10\r\nabc"), 9 + 3);
        assert_eq!(missing(b"*2\r\n*5\r\n:1\r\n:1\r\n"), 5 * 3 + 3 - 8);
        assert!(missing(b"*9223372036854775807\r\n") > 1_000_000_000);
        // Only as many values are read as there is room for with all that has to follow.
        let nested = [&b"*9000000000000000000\r\n".repeat(7)[..], &b":1\r\n".repeat(1000)].concat();
        assert!(missing(&nested) > 1_000_000_000);
        assert_eq!(missing(&b"+".repeat(1000)), 1);
        assert!(read(&b"+".repeat(LONGEST_LINE)).is_err());
    }

    #[test]
    fn what_is_no_answer_is_refused_and_takes_no_memory() {
        let deep = b"*1\r\n".repeat(100_000);
        let nonsense: [&[u8]; 7] =
            [b"HTTP/1.1 400\r\n", b"\r\n", b":1\n", b"$x\r\n", b"$-2\r\n", b"$1\r\nabc", &deep];
        for bytes in nonsense {
            assert!(read(bytes).is_err(), "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(20)]));
        }
        assert!(read(b"$18446744073709551615\r\n").is_err());
    }

    proptest! {
        #[test]
        fn reads_as_the_client_library_does(values in proptest::collection::vec(any::<Option<Vec<u8>>>(), 0..9)) {
            let mut bytes = Vec::new();
            write_list(&mut bytes, values.len());
            for value in values {
                match value {
                    Some(text) => write_text(&mut bytes, &text),
                    None => bytes.extend_from_slice(b"$-1\r\n"),
                }
            }
            prop_assert_eq!(whole(&bytes), parse_redis_value(&bytes).unwrap());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, answer in "[*$:+-][0-9]{0,3}\r\n[*$:+-][a-z0-9]{0,3}\r\n") {
            _ = read(&bytes);
            _ = read(answer.as_bytes());
        }
    }
}
