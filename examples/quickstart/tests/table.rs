//! The quickstart shows what its limits say.

/// A limit's row, without its alignment.
fn row<'a>(output: &'a str, name: &str) -> Vec<&'a str> {
    let line = output.lines().find(|line| line.split_whitespace().next() == Some(name));
    line.unwrap_or_else(|| panic!("no row `{name}` in:\n{output}")).split_whitespace().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_counts_every_call() {
    let mut output = Vec::new();
    quickstart::run(&mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();

    assert_eq!(row(&output, "limit"), ["limit", "at", "most", "allowed", "denied", "waited"]);
    assert_eq!(row(&output, "quickstart::services::search")[2..], ["50", "10", "0"]);
    assert_eq!(row(&output, "profile")[2..], ["15", "9", "0"]);
    assert_eq!(row(&output, "recommend")[2..], ["6", "3", "0"]);
    assert_eq!(row(&output, "log_in.address")[2..], ["9", "6", "0"]);
    assert_eq!(row(&output, "log_in")[2], "9", "a call that its address denied does not charge the shop");

    let mail = row(&output, "mail");
    assert_eq!(mail[2..4], ["12", "0"], "all were sent");
    assert!(mail[4].parse::<u32>().unwrap() > 0, "some waited:\n{output}");

    let denial = output.lines().find(|line| line.starts_with("ada's sixth profile")).unwrap();
    assert!(denial.contains("`profile`"), "the denial names its limit: {denial}");
    let again = output.lines().last().unwrap().split(' ').find_map(|word| word.parse::<f64>().ok()).unwrap();
    assert!((55.0..=62.0).contains(&again), "a minute, and at most a bucket more: {again}");
}
