//! The answers to transactions, as the calls that carry them out come in.

use crate::port::{StoreError, Written};

/// One answer per transaction of a write.
pub(super) struct Answers(Vec<Option<Result<Written, StoreError>>>);

/// The answers to some of them.
pub(super) struct AnswersAt<'a> {
    answers: &'a mut Answers,
    indexes: &'a [usize],
}

impl Answers {
    pub(super) fn new(count: usize) -> Self {
        Self(vec![None; count])
    }

    /// The answers to the transactions at these indexes.
    pub(super) fn at<'a>(&'a mut self, indexes: &'a [usize]) -> AnswersAt<'a> {
        AnswersAt { answers: self, indexes }
    }

    /// All answers. A transaction without one lost its race.
    pub(super) fn finish(self) -> Vec<Result<Written, StoreError>> {
        self.0.into_iter().map(|answer| answer.unwrap_or(Ok(Written::Lost))).collect()
    }

    /// All answers, after a call failed: transactions without one were not sent.
    pub(super) fn unsent(self, failure: StoreError) -> Vec<Result<Written, StoreError>> {
        let failure = failure.unsent();
        let answer = |answer: Option<_>| answer.unwrap_or_else(|| Err(failure.clone()));
        self.0.into_iter().map(answer).collect()
    }
}

impl AnswersAt<'_> {
    pub(super) fn set(&mut self, place: usize, written: Written) {
        self.answers.0[self.indexes[place]] = Some(Ok(written));
    }

    /// The call that carried these out has failed.
    pub(super) fn fail(&mut self, places: &[usize], failure: &StoreError) {
        for place in places {
            self.answers.0[self.indexes[*place]] = Some(Err(failure.clone()));
        }
    }
}
