"""What schemathesis is told besides the OpenAPI document: nobody waits long for what does not come, and the
items of a batch are refused one by one."""

import re

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection

BATCHES = re.compile(r"^/v1/queues/\{queue\}/(commit|extend|fail|release|take|tasks)$")


@schemathesis.check
def negative_item_rejection(ctx, response, case):
    """In a batch each item answers for itself: the answer is 200, and what is wrong is refused there. All else
    that is wrong is refused as a whole, as everywhere."""
    if BATCHES.match(case.operation.path) and not has_refused_item(response):
        return negative_data_rejection(ctx, response, case)
    return None


def has_refused_item(response):
    if response.status_code != 200:
        return False
    answer = response.json()
    return any(not item["ok"] for item in answer.get("results", answer.get("committed", [])))


@schemathesis.hook
def before_call(context, case, kwargs):
    """Long polls answer at once. A wait that is none stays as it is, and is refused. A body of blanks is an empty
    one, which is right: where bytes at random are to be wrong, they are replaced."""
    body = case.body
    if isinstance(body, bytes) and body and not body.strip():
        case.body = b"{"
    if isinstance(body, dict) and is_wait(body.get("wait")):
        case.body = {**body, "wait": 0}
    if isinstance(case.query, dict) and is_wait(case.query.get("wait")):
        case.query["wait"] = 0


def is_wait(wait):
    if isinstance(wait, str):
        return wait[:1].isdigit()
    return isinstance(wait, (int, float)) and not isinstance(wait, bool) and 0 < wait <= 60
