import { vi } from "vitest";

/** Replaces animation frames. The returned function runs the pending ones. */
export function stubFrames(): () => void {
	let waiting: FrameRequestCallback[] = [];
	vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => waiting.push(callback));
	vi.stubGlobal("cancelAnimationFrame", (id: number) => waiting.splice(id - 1, 1, () => {}));
	return () => {
		const due = waiting;
		waiting = [];
		for (const callback of due) callback(0);
	};
}
