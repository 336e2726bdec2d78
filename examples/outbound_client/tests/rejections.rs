//! The third party has nothing to reject where the client waits in line.

use outbound_client::{Answers, Pace, REQUESTS, ask_many, third_party};

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_in_line_is_never_rejected() {
    let answers = ask_many(Pace::Limited).await.unwrap();
    assert_eq!(answers, Answers { answered: REQUESTS, rejected: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_wait_is_rejected() {
    let answers = ask_many(Pace::Unlimited).await.unwrap();
    assert_eq!(answers.answered + answers.rejected, REQUESTS);
    assert!(answers.answered >= third_party::MAX as usize);
    assert!(answers.rejected > 0, "thirty requests at once are more than ten in half a second");
}
