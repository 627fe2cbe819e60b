import type { LoadNote, LoadReason, ModelMemory, ModelState } from "../api/generated";
import { bytes, number } from "./format";
import { t } from "./i18n.svelte";

/** Memory on one device. */
export const used = ({ weights, cache, compute }: ModelMemory): number => (weights ?? 0) + (cache ?? 0) + (compute ?? 0);

/** The place of a loaded model, in one line; empty if it is not loaded. */
export function placement(state: ModelState): string {
	if (state.context === 0) return "";
	const context = number(state.context);
	const cards = state.devices.filter(({ device }) => device !== "");
	if (state.gpuLayers === 0 || cards.length === 0) {
		return t("modelLoad.onProcessor", { context, used: bytes(sum(state.devices.map(used))) });
	}
	const total = sum(cards.map(({ total }) => total ?? 0));
	return t(state.processorExperts > 0 ? "modelLoad.onGraphicsExperts" : "modelLoad.onGraphics", {
		experts: number(state.processorExperts),
		layers: number(state.gpuLayers),
		all: number(state.layers),
		device: cards.map(({ device }) => device).join(", "),
		context,
		used: bytes(sum(cards.map(used))),
		total: bytes(total),
	});
}

/** How fast a model writes; empty if it is not known. */
export function writingSpeed(wordsPerMinute: number | null, isMeasured: boolean): string {
	if (wordsPerMinute === null) return "";
	const values = { count: wordsPerMinute, shown: number(wordsPerMinute) };
	return isMeasured ? t("models.writesMeasured", values) : t("models.writes", values);
}

/** How a loaded model differs from what was wished. */
export function noteText(note: LoadNote): string {
	if (note.kind === "withoutGraphics") return t("modelLoad.withoutGraphics");
	const numbers = { from: number(note.from), to: number(note.to) };
	return t(`modelLoad.${note.kind}`, numbers);
}

/** Reason why a graphics device or the memory was not used as requested. Technical details are in brackets. */
export function reasonText(reason: LoadReason): string {
	switch (reason.kind) {
		case "crashed":
		case "driverFailed":
		case "workerNotStarted": {
			const text = t(`loadReason.${reason.kind}`);
			return reason.detail ? `${text} (${reason.detail})` : text;
		}
		case "driverSilent":
			return t("loadReason.driverSilent", { count: reason.seconds });
		case "noDevice":
			return reason.device ? t("loadReason.noNamedDevice", { name: reason.device }) : t("loadReason.noDevice");
		case "outOfMemory":
		case "refused":
			return t(`loadReason.${reason.kind}`);
		default:
			return reason satisfies never;
	}
}

const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
