import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchActivity } from "./watchActivity";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

test("input is reported at most once in 15 seconds", () => {
	const report = vi.fn(() => Promise.reject(new Error("no shell")));
	const stop = watchActivity(report);
	for (const name of ["keydown", "pointerdown", "wheel"]) window.dispatchEvent(new Event(name));
	expect(report).toHaveBeenCalledOnce();
	vi.advanceTimersByTime(14_999);
	window.dispatchEvent(new Event("wheel"));
	expect(report).toHaveBeenCalledOnce();
	vi.advanceTimersByTime(1);
	window.dispatchEvent(new Event("keydown"));
	expect(report).toHaveBeenCalledTimes(2);
	stop();
	vi.advanceTimersByTime(60_000);
	window.dispatchEvent(new Event("keydown"));
	expect(report).toHaveBeenCalledTimes(2);
});
