import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ModelState } from "../api/generated";
import { noteText, placement, reasonText } from "../i18n/modelTexts";
import { api } from "./api";
import { ModelStates } from "./modelStates.svelte";

const GB = 1_000_000_000;
const state = (over: Partial<ModelState> = {}): ModelState => ({ id: "m", activity: "unloaded", context: 0, layers: 0, gpuLayers: 0, processorExperts: 0, devices: [], notes: [], adapters: [], projector: null, readsNoPictures: false, ...over });
const processor = { device: "", weights: 2 * GB, cache: 0.4 * GB, compute: 0.1 * GB, total: 0 };
const card = { device: "RX 7600", weights: 2.5 * GB, cache: 0.5 * GB, compute: 0.1 * GB, total: 8 * GB };

test("placement names layers, device, context and memory", () => {
	expect(placement(state())).toBe("");
	expect(placement(state({ activity: "idle", context: 8192, layers: 29, devices: [processor] }))).toBe("On the processor, context 8,192, 2.5 GB");
	const split = state({ activity: "idle", context: 8192, layers: 29, gpuLayers: 27, devices: [processor, card] });
	expect(placement(split)).toBe("27 of 29 layers on RX 7600, context 8,192, 3.1 GB of 8 GB");
	const mixture = state({ activity: "idle", context: 8192, layers: 49, gpuLayers: 49, processorExperts: 30, devices: [processor, card] });
	expect(placement(mixture)).toBe("49 of 49 layers on RX 7600, the experts of 30 on the processor, context 8,192, 3.1 GB of 8 GB");
});

test("every kind of note has a text", () => {
	const reason = { kind: "outOfMemory" } as const;
	expect(noteText({ kind: "withoutGraphics", reason })).toContain("processor");
	expect(noteText({ kind: "moreExperts", from: 20, to: 34, reason })).toContain("34 instead of 20");
	expect(noteText({ kind: "fewerLayers", from: 29, to: 14, reason })).toContain("14 instead of 29");
	expect(noteText({ kind: "smallerContext", from: 8192, to: 4096, reason })).toContain("4,096 instead of 8,192");
});

test("every reason has a text, with its technical detail", () => {
	expect(reasonText({ kind: "crashed", detail: "SIGABRT" })).toBe("the graphics driver ended the model’s process (SIGABRT)");
	expect(reasonText({ kind: "driverFailed", detail: "" })).toBe("the graphics driver failed");
	expect(reasonText({ kind: "driverSilent", seconds: 5 })).toContain("5 seconds");
	expect(reasonText({ kind: "noDevice", device: "CUDA7" })).toContain("CUDA7");
	expect(reasonText({ kind: "noDevice", device: null })).not.toContain("null");
	expect(reasonText({ kind: "outOfMemory" })).toContain("memory");
	expect(reasonText({ kind: "refused" })).not.toBe("");
});

test("failed load shows the stored state again", async () => {
	const failures: unknown[] = [];
	const shell = new FakeShell({
		model_states: () => [state()],
		load_model: () => {
			throw { kind: "internal", message: "no" };
		},
	});
	const states = new ModelStates(api(shell), (action) => action().catch((thrown: unknown) => failures.push(thrown)));
	states.follow();
	await expect.poll(() => states.all.length).toBe(1);
	const loading = states.load("m");
	expect(states.of("m")?.activity).toBe("loading");
	await loading;
	expect(failures).toHaveLength(1);
	await expect.poll(() => states.of("m")?.activity).toBe("unloaded");
});

test("a speed test is kept for its model", async () => {
	const run = { threads: 4, batch: null, gpuLayers: 0, prompt: 100, reply: 20 };
	const shell = new FakeShell({ model_states: () => [state()], measure_model: () => ({ runs: [run], best: 0 }) });
	const states = new ModelStates(api(shell), (action) => action());
	await states.measure("m");
	expect(states.tests["m"]?.runs).toEqual([run]);
	expect(states.measuring).toBeNull();
});
