import { vi } from "vitest";

/** Frames that come when the test says so. */
export function heldFrames(): () => void {
	let waiting: FrameRequestCallback[] = [];
	vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => waiting.push(callback));
	vi.stubGlobal("cancelAnimationFrame", (id: number) => waiting.splice(id - 1, 1, () => {}));
	return () => {
		const due = waiting;
		waiting = [];
		for (const callback of due) callback(0);
	};
}
