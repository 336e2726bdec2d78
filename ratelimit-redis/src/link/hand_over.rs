//! What a server says, for those who have asked and for the link.

use std::sync::Arc;

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

use super::{
    Failure, Shared,
    line::{Arrival, Train},
    shown,
};

/// Hands an answer to those whom it is for, and says whether others may come on the connection of that number.
pub(super) fn hand_over(shared: &Arc<Shared>, number: u32, answer: Value) -> bool {
    match shared.arrive(number) {
        Arrival::Train(train) if train.0.is_empty() => true,
        Arrival::Train(train) => in_time(shared, train, answer),
        Arrival::Late { train, is_last } => {
            share_out(shared, train, answer);
            !is_last
        }
        Arrival::Unexpected => false,
    }
}

/// Says whether the link is of use.
fn in_time(shared: &Arc<Shared>, train: Train, answer: Value) -> bool {
    if let Value::ServerError(_) = answer {
        return match answer.extract_error() {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                shared.repeat(train);
                true
            }
            Err(error)
                if error.kind() == ErrorKind::Server(ServerErrorKind::CrossSlot) && train.0.len() > 1 =>
            {
                shared.take_apart(train);
                true
            }
            Err(error) => {
                let (failure, of_use) = (failure(&error), !breaks_link(&error));
                train.0.into_iter().for_each(|request| shared.fail(request, failure.clone()));
                of_use
            }
            Ok(_) => false,
        };
    }
    if train.0.iter().any(|request| request.answer.is_some()) {
        shared.line().is_in_time();
    }
    share_out(shared, train, answer)
}

/// Gives each of a train what the server says of it, and says whether the link is of use.
fn share_out(shared: &Arc<Shared>, train: Train, answer: Value) -> bool {
    let answers = match answer {
        Value::Array(answers) if train.0.len() > 1 => answers,
        // One that is alone is told bare.
        answer => vec![answer],
    };
    let mut of_use = answers.len() == train.0.len();
    if of_use {
        for (request, answer) in train.0.into_iter().zip(answers) {
            match answer.extract_error() {
                Ok(value) => request.succeed(shared, value),
                // Of many decisions, one may have failed without the others.
                Err(error) => {
                    of_use &= !breaks_link(&error);
                    shared.fail(request, failure(&error));
                }
            }
        }
    }
    of_use
}

fn failure(error: &RedisError) -> Failure {
    let node = || error.redirect_node().map(|(address, _)| Box::from(address));
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::Moved) => node().map_or(Failure::Disconnected, Failure::Moved),
        ErrorKind::Server(ServerErrorKind::Ask) => node().map_or(Failure::Disconnected, Failure::Ask),
        _ if error.is_io_error() => Failure::Disconnected,
        _ => Failure::Refused(shown(error, &[])),
    }
}

/// Whether no request would fare better: the connection is gone, or the server does not decide about anything.
fn breaks_link(error: &RedisError) -> bool {
    let does_not_decide = matches!(
        error.kind(),
        ErrorKind::Server(
            ServerErrorKind::ReadOnly
                | ServerErrorKind::BusyLoading
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::NoPerm
        ) | ErrorKind::AuthenticationFailed
    );
    does_not_decide
        || error.is_io_error()
        || error.is_unrecoverable_error()
        || matches!(error.code(), Some("BUSY" | "NOAUTH" | "OOM" | "MISCONF" | "NOREPLICAS"))
}
