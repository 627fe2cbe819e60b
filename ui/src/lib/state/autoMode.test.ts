import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AutoMode } from "./autoMode.svelte";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("speaks on after the pause until nobody is left", async () => {
	const answers = [true, true, false];
	const next = vi.fn(() => Promise.resolve(answers.shift() ?? false));
	const auto = new AutoMode(next, () => 5);
	auto.start();
	await vi.advanceTimersByTimeAsync(0);
	expect(next).toHaveBeenCalledTimes(1);
	auto.replied(true);
	await vi.advanceTimersByTimeAsync(4999);
	expect(next).toHaveBeenCalledTimes(1);
	await vi.advanceTimersByTimeAsync(1);
	expect([next.mock.calls.length, auto.on]).toEqual([2, true]);
	auto.replied(true);
	await vi.advanceTimersByTimeAsync(5000);
	expect([next.mock.calls.length, auto.on]).toEqual([3, false]);
});

test("stops at once, and after a reply that was cut off", async () => {
	const next = vi.fn(() => Promise.resolve(true));
	const auto = new AutoMode(next, () => 1);
	auto.start();
	auto.replied(true);
	auto.stop();
	await vi.advanceTimersByTimeAsync(2000);
	expect(next).toHaveBeenCalledTimes(1);
	auto.start();
	auto.replied(false);
	await vi.advanceTimersByTimeAsync(2000);
	expect([next.mock.calls.length, auto.on]).toEqual([2, false]);
});
