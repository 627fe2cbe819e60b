import { beforeEach, expect, test, vi } from "vitest";
import { TooltipState } from "./tooltip.svelte";

let tooltip: TooltipState;

beforeEach(() => {
	vi.useFakeTimers();
	document.body.innerHTML = `<button id="a" aria-label="Copy" data-tooltip=""><i></i></button><button id="b" data-tooltip="Sent in full from here">From here</button><p></p>`;
	tooltip = new TooltipState();
});

const point = (selector: string, pointerType = "mouse") => tooltip.pointed({ target: document.querySelector(selector), pointerType } as unknown as PointerEvent);

test("a tooltip waits, and the next one follows at once", () => {
	point("#a i");
	vi.advanceTimersByTime(399);
	expect(tooltip.text).toBe("");
	vi.advanceTimersByTime(1);
	expect(tooltip.text).toBe("Copy");
	point("#b");
	vi.advanceTimersByTime(0);
	expect(tooltip.text).toBe("Sent in full from here");
});

test("leaving or pressing a button takes its tooltip away", () => {
	for (const leave of [() => point("p"), () => tooltip.hide()]) {
		point("#a");
		leave();
		vi.advanceTimersByTime(1_000);
		expect(tooltip.anchor).toBeNull();
	}
});

test("a pressed button shows no tooltip until it is pointed at again", () => {
	point("#a");
	vi.advanceTimersByTime(400);
	tooltip.hide();
	vi.advanceTimersByTime(1_000);
	expect(tooltip.anchor).toBeNull();
});

test("a finger and a removed button have no tooltip", () => {
	point("#a", "touch");
	vi.advanceTimersByTime(1_000);
	expect(tooltip.anchor).toBeNull();
	point("#a");
	document.querySelector("#a")?.remove();
	vi.advanceTimersByTime(1_000);
	expect(tooltip.anchor).toBeNull();
});
