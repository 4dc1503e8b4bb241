"""Every operation of the server, a method each.

Written by `sdks/generate` from /openapi.json: change nothing here by hand.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from . import types as t
from ._transport import Transport
from ._wire import UNSET, Unset, Wire, path, wire


class Api(Transport):
    """Every operation of the server, a method each."""

    def livez(
        self,
    ) -> t.Live:
        """Whether the server runs."""
        call: Wire = wire(
            "GET",
            "/livez",
        )
        answer: t.Live = self._json(call)
        return answer

    def metrics(
        self,
    ) -> str:
        """Read what is measured, for Prometheus."""
        call: Wire = wire(
            "GET",
            "/metrics",
        )
        return self._text(call)

    def readyz(
        self,
    ) -> t.Ready:
        """Whether the server can do its work."""
        call: Wire = wire(
            "GET",
            "/readyz",
        )
        answer: t.Ready = self._json(call)
        return answer

    def access(
        self,
    ) -> t.Access:
        """Say what the token that was sent is good for. Any token may ask."""
        call: Wire = wire(
            "GET",
            "/v1/access",
        )
        answer: t.Access = self._json(call)
        return answer

    def back_up(
        self,
    ) -> bytes:
        """Copy the store into one file, as it is at this moment. Only the embedded store is copied."""
        call: Wire = wire(
            "POST",
            "/v1/backup",
        )
        return self._bytes(call)

    def move_clock(
        self,
        *,
        advance: Union[Optional[t.Duration], Unset] = UNSET,
        set: Union[Optional[t.When], Unset] = UNSET,
    ) -> t.Clock:
        """Move the server's clock, as if it had slept; only with `serve --dev`."""
        call: Wire = wire(
            "POST",
            "/v1/dev/clock",
            body={"advance": advance, "set": set},
            is_repeated=False,
        )
        answer: t.Clock = self._json(call)
        return answer

    def list_failures(
        self,
        *,
        queue: Optional[str] = None,
        cursor: Optional[str] = None,
    ) -> t.FailureGroupPage:
        """Group failed tasks by queue and error, those that failed last first."""
        call: Wire = wire(
            "GET",
            "/v1/failures",
            query={"queue": queue, "cursor": cursor},
        )
        answer: t.FailureGroupPage = self._json(call)
        return answer

    def list_flows(
        self,
        *,
        state: Optional[t.FlowState] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.FlowSummaryPage:
        """List flows by id, without their steps."""
        call: Wire = wire(
            "GET",
            "/v1/flows",
            query={"state": state, "limit": limit, "cursor": cursor},
        )
        answer: t.FlowSummaryPage = self._json(call)
        return answer

    def create_flow(
        self,
        *,
        steps: List[t.NewStep],
        id: Union[Optional[str], Unset] = UNSET,
        on_failure: Union[Optional[t.OnFailure], Unset] = UNSET,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> t.Flow:
        """Make a flow."""
        call: Wire = wire(
            "POST",
            "/v1/flows",
            body={"id": id, "on_failure": on_failure, "steps": steps},
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
            is_keyed=True,
        )
        answer: t.Flow = self._json(call)
        return answer

    def get_flow(
        self,
        id: str,
    ) -> t.Flow:
        """Read a flow with all its steps."""
        call: Wire = wire(
            "GET",
            path("/v1/flows/{id}", id),
        )
        answer: t.Flow = self._json(call)
        return answer

    def cancel_flow(
        self,
        id: str,
    ) -> t.Flow:
        """End a flow: no step is started any more, and tasks that have not ended are cancelled."""
        call: Wire = wire(
            "POST",
            path("/v1/flows/{id}/cancel", id),
        )
        answer: t.Flow = self._json(call)
        return answer

    def pause_flow(
        self,
        id: str,
    ) -> t.Flow:
        """Set a flow aside: no step is started, tasks that nobody began are paused, running ones finish."""
        call: Wire = wire(
            "POST",
            path("/v1/flows/{id}/pause", id),
        )
        answer: t.Flow = self._json(call)
        return answer

    def resume_flow(
        self,
        id: str,
    ) -> t.Flow:
        """Let a paused flow go on."""
        call: Wire = wire(
            "POST",
            path("/v1/flows/{id}/resume", id),
        )
        answer: t.Flow = self._json(call)
        return answer

    def retry_flow(
        self,
        id: str,
    ) -> t.Flow:
        """Make the failed and cancelled steps of a flow again; those that are done stay done."""
        call: Wire = wire(
            "POST",
            path("/v1/flows/{id}/retry", id),
        )
        answer: t.Flow = self._json(call)
        return answer

    def list_hosts(
        self,
    ) -> t.HostPage:
        """List the targets of deliveries: those that something is under way for, and those known of late."""
        call: Wire = wire(
            "GET",
            "/v1/hosts",
        )
        answer: t.HostPage = self._json(call)
        return answer

    def list_notices(
        self,
        *,
        state: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.NoticePage:
        """List notices."""
        call: Wire = wire(
            "GET",
            "/v1/notices",
            query={"state": state, "limit": limit, "cursor": cursor},
        )
        answer: t.NoticePage = self._json(call)
        return answer

    def push_notice(
        self,
        *,
        url: str,
        callback_url: Union[Optional[str], Unset] = UNSET,
        content_type: Union[Optional[t.ContentType], Unset] = UNSET,
        data: Any = UNSET,
        enforce_repeat_notice: Union[Optional[bool], Unset] = UNSET,
        follow_redirects: Union[Optional[bool], Unset] = UNSET,
        headers: Union[Optional[Dict[str, str]], Unset] = UNSET,
        http_method: Union[Optional[t.NoticeMethod], Unset] = UNSET,
        id: Union[Optional[str], Unset] = UNSET,
        max_notices: Union[Optional[int], Unset] = UNSET,
        notice_interval: Union[Optional[List[t.Duration]], Unset] = UNSET,
        success_flag: Union[Optional[str], Unset] = UNSET,
        timeout: Union[Optional[t.Duration], Unset] = UNSET,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> t.Notice:
        """Send a notice."""
        call: Wire = wire(
            "POST",
            "/v1/notices",
            body={"callback_url": callback_url, "content_type": content_type, "data": data, "enforce_repeat_notice": enforce_repeat_notice, "follow_redirects": follow_redirects, "headers": headers, "http_method": http_method, "id": id, "max_notices": max_notices, "notice_interval": notice_interval, "success_flag": success_flag, "timeout": timeout, "url": url},
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
            is_keyed=True,
        )
        answer: t.Notice = self._json(call)
        return answer

    def cancel_notice(
        self,
        id: str,
    ) -> None:
        """Send a notice no more, also if one is under way. It reads as `cancelled` for 24 h."""
        call: Wire = wire(
            "DELETE",
            path("/v1/notices/{id}", id),
        )
        self._none(call)

    def get_notice(
        self,
        id: str,
    ) -> t.Notice:
        """Read a notice."""
        call: Wire = wire(
            "GET",
            path("/v1/notices/{id}", id),
        )
        answer: t.Notice = self._json(call)
        return answer

    def retry_notice(
        self,
        id: str,
    ) -> t.Notice:
        """Send one more notice now: of one that is exhausted, or one that waits for its next."""
        call: Wire = wire(
            "POST",
            path("/v1/notices/{id}/retry", id),
        )
        answer: t.Notice = self._json(call)
        return answer

    def list_plans(
        self,
        *,
        queue: Optional[str] = None,
        station: Optional[str] = None,
        state: Optional[t.PlanState] = None,
        order: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.PlanPage:
        """List plans, by station and id or by the time they wait for."""
        call: Wire = wire(
            "GET",
            "/v1/plans",
            query={"queue": queue, "station": station, "state": state, "order": order, "limit": limit, "cursor": cursor},
        )
        answer: t.PlanPage = self._json(call)
        return answer

    def create_plan(
        self,
        *,
        bundle_key: Union[Optional[str], Unset] = UNSET,
        callback: Union[Optional[t.Callback], Unset] = UNSET,
        caller: Union[Optional[str], Unset] = UNSET,
        cron: Union[Optional[str], Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET,
        hold: Union[Optional[t.Duration], Unset] = UNSET,
        http: Union[Optional[t.Http], Unset] = UNSET,
        keep_results: Union[Optional[int], Unset] = UNSET,
        max_attempts: Union[Optional[int], Unset] = UNSET,
        message: Any = UNSET,
        messages: Any = UNSET,
        no_keep: Union[Optional[bool], Unset] = UNSET,
        on_error: Union[Optional[t.OnError], Unset] = UNSET,
        plan_id: Any = UNSET,
        plan_repet: Union[Optional[int], Unset] = UNSET,
        plan_time: Any = UNSET,
        plan_type: Union[Optional[t.RuleType], Unset] = UNSET,
        plan_value: Union[Optional[int], Unset] = UNSET,
        priority: Union[Optional[int], Unset] = UNSET,
        queue: Union[Optional[str], Unset] = UNSET,
        repeat: Union[Optional[int], Unset] = UNSET,
        request_id: Union[Optional[str], Unset] = UNSET,
        requires: Union[Optional[List[str]], Unset] = UNSET,
        retry: Union[Optional[t.Retry], Unset] = UNSET,
        station: Union[Optional[str], Unset] = UNSET,
        tags: Union[Optional[List[str]], Unset] = UNSET,
        timezone: Union[Optional[str], Unset] = UNSET,
        idempotency_key: Optional[str] = None,
    ) -> t.Plan:
        """Make a plan."""
        call: Wire = wire(
            "POST",
            "/v1/plans",
            body={"bundle_key": bundle_key, "callback": callback, "caller": caller, "cron": cron, "description": description, "hold": hold, "http": http, "keep_results": keep_results, "max_attempts": max_attempts, "message": message, "messages": messages, "no_keep": no_keep, "on_error": on_error, "plan_id": plan_id, "plan_repet": plan_repet, "plan_time": plan_time, "plan_type": plan_type, "plan_value": plan_value, "priority": priority, "queue": queue, "repeat": repeat, "request_id": request_id, "requires": requires, "retry": retry, "station": station, "tags": tags, "timezone": timezone},
            headers={"Idempotency-Key": idempotency_key},
            is_keyed=True,
        )
        answer: t.Plan = self._json(call)
        return answer

    def preview_plan(
        self,
        *,
        plan_type: t.RuleType,
        cron: Union[Optional[str], Unset] = UNSET,
        n: Union[Optional[int], Unset] = UNSET,
        no_keep: Union[Optional[bool], Unset] = UNSET,
        plan_repet: Union[Optional[int], Unset] = UNSET,
        plan_time: Any = UNSET,
        plan_value: Union[Optional[int], Unset] = UNSET,
        repeat: Union[Optional[int], Unset] = UNSET,
        timezone: Union[Optional[str], Unset] = UNSET,
    ) -> t.TimePage:
        """Tell when a plan with such a rule would run. Nothing is stored."""
        call: Wire = wire(
            "POST",
            "/v1/plans/preview",
            body={"cron": cron, "n": n, "no_keep": no_keep, "plan_repet": plan_repet, "plan_time": plan_time, "plan_type": plan_type, "plan_value": plan_value, "repeat": repeat, "timezone": timezone},
        )
        answer: t.TimePage = self._json(call)
        return answer

    def delete_plan(
        self,
        id: str,
    ) -> None:
        """Delete a plan. Its run that has not ended goes on, unheard."""
        call: Wire = wire(
            "DELETE",
            path("/v1/plans/{id}", id),
        )
        self._none(call)

    def get_plan(
        self,
        id: str,
    ) -> t.Plan:
        """Read a plan."""
        call: Wire = wire(
            "GET",
            path("/v1/plans/{id}", id),
        )
        answer: t.Plan = self._json(call)
        return answer

    def put_plan(
        self,
        id: str,
        *,
        bundle_key: Union[Optional[str], Unset] = UNSET,
        callback: Union[Optional[t.Callback], Unset] = UNSET,
        caller: Union[Optional[str], Unset] = UNSET,
        cron: Union[Optional[str], Unset] = UNSET,
        description: Union[Optional[str], Unset] = UNSET,
        hold: Union[Optional[t.Duration], Unset] = UNSET,
        http: Union[Optional[t.Http], Unset] = UNSET,
        keep_results: Union[Optional[int], Unset] = UNSET,
        max_attempts: Union[Optional[int], Unset] = UNSET,
        message: Any = UNSET,
        messages: Any = UNSET,
        no_keep: Union[Optional[bool], Unset] = UNSET,
        on_error: Union[Optional[t.OnError], Unset] = UNSET,
        plan_id: Any = UNSET,
        plan_repet: Union[Optional[int], Unset] = UNSET,
        plan_time: Any = UNSET,
        plan_type: Union[Optional[t.RuleType], Unset] = UNSET,
        plan_value: Union[Optional[int], Unset] = UNSET,
        priority: Union[Optional[int], Unset] = UNSET,
        queue: Union[Optional[str], Unset] = UNSET,
        repeat: Union[Optional[int], Unset] = UNSET,
        request_id: Union[Optional[str], Unset] = UNSET,
        requires: Union[Optional[List[str]], Unset] = UNSET,
        retry: Union[Optional[t.Retry], Unset] = UNSET,
        station: Union[Optional[str], Unset] = UNSET,
        tags: Union[Optional[List[str]], Unset] = UNSET,
        timezone: Union[Optional[str], Unset] = UNSET,
        if_match: Optional[str] = None,
    ) -> t.Plan:
        """Make a plan under an id, or give the one there another rule; what it has counted stays."""
        call: Wire = wire(
            "PUT",
            path("/v1/plans/{id}", id),
            body={"bundle_key": bundle_key, "callback": callback, "caller": caller, "cron": cron, "description": description, "hold": hold, "http": http, "keep_results": keep_results, "max_attempts": max_attempts, "message": message, "messages": messages, "no_keep": no_keep, "on_error": on_error, "plan_id": plan_id, "plan_repet": plan_repet, "plan_time": plan_time, "plan_type": plan_type, "plan_value": plan_value, "priority": priority, "queue": queue, "repeat": repeat, "request_id": request_id, "requires": requires, "retry": retry, "station": station, "tags": tags, "timezone": timezone},
            headers={"If-Match": if_match},
        )
        answer: t.Plan = self._json(call)
        return answer

    def plan_occurrences(
        self,
        id: str,
        *,
        n: Optional[int] = None,
    ) -> t.TimePage:
        """Tell when a plan will run next, if every run ends in time."""
        call: Wire = wire(
            "GET",
            path("/v1/plans/{id}/occurrences", id),
            query={"n": n},
        )
        answer: t.TimePage = self._json(call)
        return answer

    def pause_plan(
        self,
        id: str,
    ) -> t.Plan:
        """Set a plan aside. Its run that has not ended goes on, and counts."""
        call: Wire = wire(
            "POST",
            path("/v1/plans/{id}/pause", id),
        )
        answer: t.Plan = self._json(call)
        return answer

    def plan_results(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.PlanResultPage:
        """List what is kept of a plan's runs, the newest first."""
        call: Wire = wire(
            "GET",
            path("/v1/plans/{id}/results", id),
            query={"limit": limit, "cursor": cursor},
        )
        answer: t.PlanResultPage = self._json(call)
        return answer

    def resume_plan(
        self,
        id: str,
    ) -> t.Plan:
        """Let a plan go on that was paused, or that stopped because a run failed for good."""
        call: Wire = wire(
            "POST",
            path("/v1/plans/{id}/resume", id),
        )
        answer: t.Plan = self._json(call)
        return answer

    def run_plan(
        self,
        id: str,
    ) -> t.Plan:
        """Run a plan now, besides its rule. The run is not counted."""
        call: Wire = wire(
            "POST",
            path("/v1/plans/{id}/run", id),
            is_repeated=False,
        )
        answer: t.Plan = self._json(call)
        return answer

    def skip_plan(
        self,
        id: str,
        *,
        n: Union[Optional[int], Unset] = UNSET,
    ) -> t.Plan:
        """Pass over the next occurrences of a plan."""
        call: Wire = wire(
            "POST",
            path("/v1/plans/{id}/skip", id),
            body={"n": n},
            is_repeated=False,
        )
        answer: t.Plan = self._json(call)
        return answer

    def list_queues(
        self,
        *,
        tag: Optional[str] = None,
        mode: Optional[t.Mode] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.QueuePage:
        """List queues, by name."""
        call: Wire = wire(
            "GET",
            "/v1/queues",
            query={"tag": tag, "mode": mode, "limit": limit, "cursor": cursor},
        )
        answer: t.QueuePage = self._json(call)
        return answer

    def delete_queue(
        self,
        queue: str,
    ) -> None:
        """Delete a queue and all it holds."""
        call: Wire = wire(
            "DELETE",
            path("/v1/queues/{queue}", queue),
        )
        self._none(call)

    def get_queue(
        self,
        queue: str,
    ) -> t.Queue:
        """Read a queue: its settings, and what it holds."""
        call: Wire = wire(
            "GET",
            path("/v1/queues/{queue}", queue),
        )
        answer: t.Queue = self._json(call)
        return answer

    def put_queue(
        self,
        queue: str,
        *,
        abandon_after: Union[Optional[t.Duration], Unset] = UNSET,
        abandoned: Union[Optional[t.Abandoned], Unset] = UNSET,
        concurrency: Union[Optional[int], Unset] = UNSET,
        confirm_within: Union[Optional[t.Duration], Unset] = UNSET,
        headers: Union[Optional[Dict[str, str]], Unset] = UNSET,
        hold: Union[Optional[t.Duration], Unset] = UNSET,
        keep: Union[Optional[t.Keep], Unset] = UNSET,
        max: Union[Optional[int], Unset] = UNSET,
        max_attempts: Union[Optional[int], Unset] = UNSET,
        max_runtime: Union[Optional[t.Duration], Unset] = UNSET,
        mode: Union[Optional[t.Mode], Unset] = UNSET,
        order: Union[Optional[t.Order], Unset] = UNSET,
        rate: Union[Optional[t.Rate], Unset] = UNSET,
        retry: Union[Optional[t.Retry], Unset] = UNSET,
        secret: Union[Optional[t.Secret], Unset] = UNSET,
        tag: Union[Optional[str], Unset] = UNSET,
        timeout: Union[Optional[t.Duration], Unset] = UNSET,
        url: Union[Optional[str], Unset] = UNSET,
        if_match: Optional[str] = None,
    ) -> t.Queue:
        """Create a queue, or change its settings."""
        call: Wire = wire(
            "PUT",
            path("/v1/queues/{queue}", queue),
            body={"abandon_after": abandon_after, "abandoned": abandoned, "concurrency": concurrency, "confirm_within": confirm_within, "headers": headers, "hold": hold, "keep": keep, "max": max, "max_attempts": max_attempts, "max_runtime": max_runtime, "mode": mode, "order": order, "rate": rate, "retry": retry, "secret": secret, "tag": tag, "timeout": timeout, "url": url},
            headers={"If-Match": if_match},
        )
        answer: t.Queue = self._json(call)
        return answer

    def list_bundles(
        self,
        queue: str,
        *,
        state: Optional[str] = None,
        key: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.BundlePage:
        """List bundles, by key."""
        call: Wire = wire(
            "GET",
            path("/v1/queues/{queue}/bundles", queue),
            query={"state": state, "key": key, "limit": limit, "cursor": cursor},
        )
        answer: t.BundlePage = self._json(call)
        return answer

    def schedule_bundle(
        self,
        queue: str,
        *,
        wait: Union[Optional[t.Duration], Unset] = UNSET,
    ) -> t.BundleScheduled:
        """Ask for a bundle that is due. It is marked as started, and nobody else is told of it for a while."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/bundles/schedule", queue),
            body={"wait": wait},
        )
        answer: t.BundleScheduled = self._json(call)
        return answer

    def delete_bundle(
        self,
        queue: str,
        key: str,
    ) -> None:
        """Remove a bundle and all that is in it."""
        call: Wire = wire(
            "DELETE",
            path("/v1/queues/{queue}/bundles/{key}", queue, key),
        )
        self._none(call)

    def read_bundle(
        self,
        queue: str,
        key: str,
    ) -> t.Bundle:
        """Read a bundle and its first payloads."""
        call: Wire = wire(
            "GET",
            path("/v1/queues/{queue}/bundles/{key}", queue, key),
        )
        answer: t.Bundle = self._json(call)
        return answer

    def complete_bundle(
        self,
        queue: str,
        key: str,
        *,
        random: str,
        number: Union[Optional[int], Unset] = UNSET,
    ) -> t.BundleCompleted:
        """The first payloads are done: they go, and the lock with them."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/bundles/{key}/complete", queue, key),
            body={"number": number, "random": random},
        )
        answer: t.BundleCompleted = self._json(call)
        return answer

    def change_data(
        self,
        queue: str,
        key: str,
        *,
        add: Union[Optional[List[str]], Unset] = UNSET,
        remove: Union[Optional[List[str]], Unset] = UNSET,
    ) -> t.Bundle:
        """Add strings to those kept with a bundle, and take others away."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/bundles/{key}/data", queue, key),
            body={"add": add, "remove": remove},
        )
        answer: t.Bundle = self._json(call)
        return answer

    def get_bundle(
        self,
        queue: str,
        key: str,
        *,
        random: str,
        number: Union[Optional[int], Unset] = UNSET,
        timeout: Union[Optional[t.Duration], Unset] = UNSET,
    ) -> t.BundleGot:
        """Lock a bundle and get its first payloads, due or not."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/bundles/{key}/get", queue, key),
            body={"number": number, "random": random, "timeout": timeout},
        )
        answer: t.BundleGot = self._json(call)
        return answer

    def push_bundle(
        self,
        queue: str,
        key: str,
        *,
        task: Any,
        data: Union[Optional[List[str]], Unset] = UNSET,
        max_wait: Union[Optional[t.Duration], Unset] = UNSET,
        ontime: Union[Optional[t.When], Unset] = UNSET,
        overwrite: Union[Optional[str], Unset] = UNSET,
        idempotency_key: Optional[str] = None,
    ) -> t.BundlePushed:
        """Push a payload into a bundle."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/bundles/{key}/push", queue, key),
            body={"data": data, "max_wait": max_wait, "ontime": ontime, "overwrite": overwrite, "task": task},
            headers={"Idempotency-Key": idempotency_key},
            is_keyed=True,
        )
        answer: t.BundlePushed = self._json(call)
        return answer

    def release_bundle(
        self,
        queue: str,
        key: str,
        *,
        random: str,
        ontime: Union[Optional[t.When], Unset] = UNSET,
    ) -> t.BundleReleased:
        """Give a bundle back without having dealt with it."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/bundles/{key}/release", queue, key),
            body={"ontime": ontime, "random": random},
        )
        answer: t.BundleReleased = self._json(call)
        return answer

    def retry_bundle(
        self,
        queue: str,
        key: str,
    ) -> t.Bundle:
        """Have a bundle dealt with now that failed, or that waits for its time or its next attempt."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/bundles/{key}/retry", queue, key),
        )
        answer: t.Bundle = self._json(call)
        return answer

    def commit_many(
        self,
        queue: str,
        *,
        tasks: List[t.CommitItem],
    ) -> t.Results:
        """Say that tasks are done."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/commit", queue),
            body={"tasks": tasks},
        )
        answer: t.Results = self._json(call)
        return answer

    def extend_many(
        self,
        queue: str,
        *,
        tasks: List[t.ExtendItem],
    ) -> t.Results:
        """Hold tasks longer, and report."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/extend", queue),
            body={"tasks": tasks},
        )
        answer: t.Results = self._json(call)
        return answer

    def fail_many(
        self,
        queue: str,
        *,
        tasks: List[t.FailItem],
    ) -> t.Results:
        """Say that attempts failed."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/fail", queue),
            body={"tasks": tasks},
        )
        answer: t.Results = self._json(call)
        return answer

    def pause_queue(
        self,
        queue: str,
    ) -> t.Queue:
        """Hand out nothing until resumed. Pushes still work."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/pause", queue),
        )
        answer: t.Queue = self._json(call)
        return answer

    def release_many(
        self,
        queue: str,
        *,
        tasks: List[t.ReleaseItem],
    ) -> t.Results:
        """Give tasks back; the takes do not count."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/release", queue),
            body={"tasks": tasks},
        )
        answer: t.Results = self._json(call)
        return answer

    def reset_queue(
        self,
        queue: str,
    ) -> t.Queue:
        """Drop all tasks of a queue; its settings stay."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/reset", queue),
        )
        answer: t.Queue = self._json(call)
        return answer

    def resume_queue(
        self,
        queue: str,
    ) -> t.Queue:
        """Hand out tasks again."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/resume", queue),
        )
        answer: t.Queue = self._json(call)
        return answer

    def scale_queue(
        self,
        queue: str,
    ) -> t.Scale:
        """Say how many workers a queue has and needs, as this server has seen lately."""
        call: Wire = wire(
            "GET",
            path("/v1/queues/{queue}/scale", queue),
        )
        answer: t.Scale = self._json(call)
        return answer

    def take(
        self,
        queue: str,
        *,
        commit: Union[Optional[List[t.CommitItem]], Unset] = UNSET,
        confirm: Union[Optional[bool], Unset] = UNSET,
        hold: Union[Optional[t.Duration], Unset] = UNSET,
        n: Union[Optional[int], Unset] = UNSET,
        wait: Union[Optional[t.Duration], Unset] = UNSET,
        worker: Union[Optional[str], Unset] = UNSET,
    ) -> t.Taken:
        """Take tasks."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/take", queue),
            body={"commit": commit, "confirm": confirm, "hold": hold, "n": n, "wait": wait, "worker": worker},
        )
        answer: t.Taken = self._json(call)
        return answer

    def list_tasks(
        self,
        queue: str,
        *,
        state: Optional[str] = None,
        tag: Optional[str] = None,
        id: Optional[str] = None,
        worker: Optional[str] = None,
        error: Optional[str] = None,
        q: Optional[str] = None,
        since: Optional[t.When] = None,
        payload: Optional[Any] = None,
        sort: Optional[Literal["newest", "oldest"]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.TaskPage:
        """List tasks. `state=ready` lists them in the order in which they are handed out."""
        call: Wire = wire(
            "GET",
            path("/v1/queues/{queue}/tasks", queue),
            query={"state": state, "tag": tag, "id": id, "worker": worker, "error": error, "q": q, "since": since, "payload": payload, "sort": sort, "limit": limit, "cursor": cursor},
        )
        answer: t.TaskPage = self._json(call)
        return answer

    def push_task(
        self,
        queue: str,
        *,
        callback: Union[Optional[t.Callback], Unset] = UNSET,
        delay: Union[Optional[t.Duration], Unset] = UNSET,
        due: Union[Optional[t.When], Unset] = UNSET,
        expires: Union[Optional[t.When], Unset] = UNSET,
        hold: Union[Optional[t.Duration], Unset] = UNSET,
        http: Union[Optional[t.Http], Unset] = UNSET,
        id: Union[Optional[str], Unset] = UNSET,
        max_attempts: Union[Optional[int], Unset] = UNSET,
        max_runtime: Union[Optional[t.Duration], Unset] = UNSET,
        payload: Any = UNSET,
        priority: Union[Optional[int], Unset] = UNSET,
        requires: Union[Optional[List[str]], Unset] = UNSET,
        retry: Union[Optional[t.Retry], Unset] = UNSET,
        tags: Union[Optional[List[str]], Unset] = UNSET,
        unique_for: Union[Optional[t.Duration], Unset] = UNSET,
        wait: Optional[t.Duration] = None,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> t.TaskOrGone:
        """Push one task, or many."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks", queue),
            body={"callback": callback, "delay": delay, "due": due, "expires": expires, "hold": hold, "http": http, "id": id, "max_attempts": max_attempts, "max_runtime": max_runtime, "payload": payload, "priority": priority, "requires": requires, "retry": retry, "tags": tags, "unique_for": unique_for},
            query={"wait": wait},
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
            is_keyed=True,
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def bulk_tasks(
        self,
        queue: str,
        *,
        filter: t.Filter,
        verb: t.BulkVerb,
        cursor: Union[Optional[str], Unset] = UNSET,
        dry_run: Union[Optional[bool], Unset] = UNSET,
    ) -> t.Bulked:
        """Do the same to all tasks that match, at most 1000 per call."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/bulk", queue),
            body={"cursor": cursor, "dry_run": dry_run, "filter": filter, "verb": verb},
        )
        answer: t.Bulked = self._json(call)
        return answer

    def delete_task(
        self,
        queue: str,
        id: str,
    ) -> None:
        """Remove a task, whatever its state."""
        call: Wire = wire(
            "DELETE",
            path("/v1/queues/{queue}/tasks/{id}", queue, id),
        )
        self._none(call)

    def get_task(
        self,
        queue: str,
        id: str,
        *,
        wait: Optional[t.Duration] = None,
    ) -> t.TaskOrGone:
        """Read a task, now or when it has ended."""
        call: Wire = wire(
            "GET",
            path("/v1/queues/{queue}/tasks/{id}", queue, id),
            query={"wait": wait},
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def edit_task(
        self,
        queue: str,
        id: str,
        *,
        due: Union[Optional[t.When], Unset] = UNSET,
        expires: Union[Optional[t.When], Unset] = UNSET,
        payload: Any = UNSET,
        priority: Union[Optional[int], Unset] = UNSET,
        retry: Union[Optional[t.Retry], Unset] = UNSET,
        tags: Union[Optional[List[str]], Unset] = UNSET,
        if_match: Optional[str] = None,
    ) -> t.Task:
        """Change what was pushed, while nobody has taken it."""
        call: Wire = wire(
            "PATCH",
            path("/v1/queues/{queue}/tasks/{id}", queue, id),
            body={"due": due, "expires": expires, "payload": payload, "priority": priority, "retry": retry, "tags": tags},
            headers={"If-Match": if_match},
        )
        answer: t.Task = self._json(call)
        return answer

    def assign_task(
        self,
        queue: str,
        id: str,
        *,
        worker: str,
    ) -> t.Task:
        """Assign a ready task of a dispatch queue to a worker, which has to confirm it."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/assign", queue, id),
            body={"worker": worker},
        )
        answer: t.Task = self._json(call)
        return answer

    def cancel_task(
        self,
        queue: str,
        id: str,
    ) -> t.Task:
        """Cancel a task."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/cancel", queue, id),
        )
        answer: t.Task = self._json(call)
        return answer

    def cancelled(
        self,
        queue: str,
        id: str,
        *,
        token: str,
        checkpoint: Any = UNSET,
        error: Union[Optional[str], Unset] = UNSET,
        result: Any = UNSET,
    ) -> t.TaskOrGone:
        """Acknowledge a cancel."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/cancelled", queue, id),
            body={"checkpoint": checkpoint, "error": error, "result": result, "token": token},
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def commit(
        self,
        queue: str,
        id: str,
        *,
        token: str,
        result: Any = UNSET,
    ) -> t.TaskOrGone:
        """Say that a task is done."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/commit", queue, id),
            body={"result": result, "token": token},
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def confirm(
        self,
        queue: str,
        id: str,
        *,
        token: str,
    ) -> t.TaskOrGone:
        """Confirm an assignment: the task is `running` and its hold begins."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/confirm", queue, id),
            body={"token": token},
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def extend(
        self,
        queue: str,
        id: str,
        *,
        token: str,
        checkpoint: Any = UNSET,
        hold: Union[Optional[t.Duration], Unset] = UNSET,
        message: Union[Optional[str], Unset] = UNSET,
        progress: Union[Optional[float], Unset] = UNSET,
    ) -> t.Extended:
        """Hold a task longer, and report. Also how a holder hears of cancel and pause."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/extend", queue, id),
            body={"checkpoint": checkpoint, "hold": hold, "message": message, "progress": progress, "token": token},
        )
        answer: t.Extended = self._json(call)
        return answer

    def fail(
        self,
        queue: str,
        id: str,
        *,
        token: str,
        error: Union[Optional[str], Unset] = UNSET,
        permanent: Union[Optional[bool], Unset] = UNSET,
        retry_in: Union[Optional[t.Duration], Unset] = UNSET,
    ) -> t.TaskOrGone:
        """Say that an attempt failed: the task waits for its retry, or is `failed`."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/fail", queue, id),
            body={"error": error, "permanent": permanent, "retry_in": retry_in, "token": token},
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def pause_task(
        self,
        queue: str,
        id: str,
    ) -> t.Task:
        """Set a task aside."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/pause", queue, id),
        )
        answer: t.Task = self._json(call)
        return answer

    def paused(
        self,
        queue: str,
        id: str,
        *,
        token: str,
        checkpoint: Any = UNSET,
        error: Union[Optional[str], Unset] = UNSET,
        result: Any = UNSET,
    ) -> t.TaskOrGone:
        """Acknowledge a pause."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/paused", queue, id),
            body={"checkpoint": checkpoint, "error": error, "result": result, "token": token},
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def release(
        self,
        queue: str,
        id: str,
        *,
        token: str,
        checkpoint: Any = UNSET,
        delay: Union[Optional[t.Duration], Unset] = UNSET,
    ) -> t.TaskOrGone:
        """Give a task back; the take does not count."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/release", queue, id),
            body={"checkpoint": checkpoint, "delay": delay, "token": token},
        )
        answer: t.TaskOrGone = self._json(call)
        return answer

    def reset_task(
        self,
        queue: str,
        id: str,
    ) -> t.Task:
        """Make a task like new: attempts, progress, checkpoint and history are cleared."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/reset", queue, id),
        )
        answer: t.Task = self._json(call)
        return answer

    def resume_task(
        self,
        queue: str,
        id: str,
    ) -> t.Task:
        """Let a paused task go on, from its checkpoint."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/resume", queue, id),
        )
        answer: t.Task = self._json(call)
        return answer

    def retry_task(
        self,
        queue: str,
        id: str,
        *,
        force: Union[Optional[bool], Unset] = UNSET,
    ) -> t.Task:
        """Try a task again now that has failed or waits for its retry."""
        call: Wire = wire(
            "POST",
            path("/v1/queues/{queue}/tasks/{id}/retry", queue, id),
            body={"force": force},
        )
        answer: t.Task = self._json(call)
        return answer

    def why(
        self,
        queue: str,
        id: str,
    ) -> t.Why:
        """Say why a task is not running now."""
        call: Wire = wire(
            "GET",
            path("/v1/queues/{queue}/tasks/{id}/why", queue, id),
        )
        answer: t.Why = self._json(call)
        return answer

    def stats(
        self,
        *,
        queue: Optional[str] = None,
    ) -> t.Stats:
        """Count what happened in the last hour."""
        call: Wire = wire(
            "GET",
            "/v1/stats",
            query={"queue": queue},
        )
        answer: t.Stats = self._json(call)
        return answer

    def queue_stats(
        self,
    ) -> t.AllQueueStats:
        """Count what happened in the last hour in each queue, for sparklines."""
        call: Wire = wire(
            "GET",
            "/v1/stats/queues",
        )
        answer: t.AllQueueStats = self._json(call)
        return answer

    def totals(
        self,
    ) -> t.Totals:
        """Count what all queues hold together."""
        call: Wire = wire(
            "GET",
            "/v1/stats/totals",
        )
        answer: t.Totals = self._json(call)
        return answer

    def get_system(
        self,
    ) -> t.System:
        """Read how the server, its store and the servers beside it are."""
        call: Wire = wire(
            "GET",
            "/v1/system",
        )
        answer: t.System = self._json(call)
        return answer

    def get_audit(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.AuditedPage:
        """Read what was done to queues and to the server, the newest first."""
        call: Wire = wire(
            "GET",
            "/v1/system/audit",
            query={"limit": limit, "cursor": cursor},
        )
        answer: t.AuditedPage = self._json(call)
        return answer

    def get_config(
        self,
    ) -> t.Config:
        """Read the settings that hold, and where each comes from. Secrets read as `***`."""
        call: Wire = wire(
            "GET",
            "/v1/system/config",
        )
        answer: t.Config = self._json(call)
        return answer

    def get_tokens(
        self,
    ) -> t.Tokens:
        """List the access tokens of the settings: what each is good for, not what it is."""
        call: Wire = wire(
            "GET",
            "/v1/system/tokens",
        )
        answer: t.Tokens = self._json(call)
        return answer

    def list_tokens(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.AccessTokenPage:
        """List the access tokens that were made at run time, by name."""
        call: Wire = wire(
            "GET",
            "/v1/tokens",
            query={"limit": limit, "cursor": cursor},
        )
        answer: t.AccessTokenPage = self._json(call)
        return answer

    def create_token(
        self,
        *,
        name: str,
        rights: List[t.Right],
        expires: Union[Optional[t.Time], Unset] = UNSET,
        limits: Union[Optional[t.AccessTokenLimits], Unset] = UNSET,
        queues: Union[Optional[List[str]], Unset] = UNSET,
    ) -> t.MadeAccessToken:
        """Make an access token."""
        call: Wire = wire(
            "POST",
            "/v1/tokens",
            body={"expires": expires, "limits": limits, "name": name, "queues": queues, "rights": rights},
        )
        answer: t.MadeAccessToken = self._json(call)
        return answer

    def delete_token(
        self,
        name: str,
    ) -> None:
        """Revoke an access token."""
        call: Wire = wire(
            "DELETE",
            path("/v1/tokens/{name}", name),
        )
        self._none(call)

    def get_token(
        self,
        name: str,
    ) -> t.AccessToken:
        """Read an access token: what it is good for and how much it was used, not what it is."""
        call: Wire = wire(
            "GET",
            path("/v1/tokens/{name}", name),
        )
        answer: t.AccessToken = self._json(call)
        return answer

    def list_workers(
        self,
        *,
        queue: Optional[str] = None,
        state: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.WorkerPage:
        """List workers, by name."""
        call: Wire = wire(
            "GET",
            "/v1/workers",
            query={"queue": queue, "state": state, "limit": limit, "cursor": cursor},
        )
        answer: t.WorkerPage = self._json(call)
        return answer

    def delete_worker(
        self,
        worker: str,
    ) -> None:
        """Leave: what the worker held is ready for others at once, and those takes do not count."""
        call: Wire = wire(
            "DELETE",
            path("/v1/workers/{worker}", worker),
        )
        self._none(call)

    def get_worker(
        self,
        worker: str,
    ) -> t.Worker:
        """Read a worker."""
        call: Wire = wire(
            "GET",
            path("/v1/workers/{worker}", worker),
        )
        answer: t.Worker = self._json(call)
        return answer

    def put_worker(
        self,
        worker: str,
        *,
        capabilities: Union[Optional[List[str]], Unset] = UNSET,
        capacity: Union[Optional[int], Unset] = UNSET,
        queues: Union[Optional[List[str]], Unset] = UNSET,
        session: Union[Optional[str], Unset] = UNSET,
    ) -> t.Worker:
        """Join as a worker, or change what was said then."""
        call: Wire = wire(
            "PUT",
            path("/v1/workers/{worker}", worker),
            body={"capabilities": capabilities, "capacity": capacity, "queues": queues, "session": session},
        )
        answer: t.Worker = self._json(call)
        return answer

    def drain_worker(
        self,
        worker: str,
    ) -> t.Worker:
        """Give a worker no more tasks; it finishes what it has."""
        call: Wire = wire(
            "POST",
            path("/v1/workers/{worker}/drain", worker),
        )
        answer: t.Worker = self._json(call)
        return answer

    def poll_worker(
        self,
        worker: str,
        *,
        session: Union[Optional[str], Unset] = UNSET,
        wait: Union[Optional[t.Duration], Unset] = UNSET,
    ) -> t.Orders:
        """Hear what is new: tasks to confirm, and what is to be stopped. It is also the heartbeat."""
        call: Wire = wire(
            "POST",
            path("/v1/workers/{worker}/poll", worker),
            body={"session": session, "wait": wait},
        )
        answer: t.Orders = self._json(call)
        return answer

    def list_holdings(
        self,
        worker: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> t.TaskPage:
        """List what a worker has: tasks it was given and has not settled, and those it has yet to vote on."""
        call: Wire = wire(
            "GET",
            path("/v1/workers/{worker}/tasks", worker),
            query={"limit": limit, "cursor": cursor},
        )
        answer: t.TaskPage = self._json(call)
        return answer

    def delete_merged(
        self,
        merge_key: str,
        method: str,
        service: str,
        *,
        update: Optional[str] = None,
        ontime: Optional[str] = None,
        max_wait: Optional[str] = None,
    ) -> None:
        """Remove all payloads that wait under a merge key, method and service."""
        call: Wire = wire(
            "DELETE",
            path("/v3/queue/{merge_key}/{method}/{service}", merge_key, method, service),
            query={"update": update, "ontime": ontime, "max_wait": max_wait},
        )
        self._none(call)

    def push_merged(
        self,
        merge_key: str,
        method: str,
        service: str,
        payload: Any = None,
        *,
        update: Optional[str] = None,
        ontime: Optional[str] = None,
        max_wait: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> t.BundlePushed:
        """Push a payload that is delivered with all others under the same merge key, method and service."""
        call: Wire = wire(
            "POST",
            path("/v3/queue/{merge_key}/{method}/{service}", merge_key, method, service),
            body=payload,
            query={"update": update, "ontime": ontime, "max_wait": max_wait},
            headers={"Idempotency-Key": idempotency_key},
            is_keyed=True,
        )
        answer: t.BundlePushed = self._json(call)
        return answer
