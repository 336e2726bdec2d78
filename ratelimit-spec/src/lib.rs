//! What a limit is: grammar, rules, messages.
