import type { CountedWith } from "../api/generated";
import { percent } from "./format";
import { t } from "./i18n.svelte";

/** Screen texts for the token counter that was used and its mean relative error. */
export function countedBy(by: CountedWith, meanError: number | null): string[] {
	return [counter(by), meanError === null ? "" : t("counts.off", { percent: percent(meanError) })].filter(Boolean);
}

function counter(by: CountedWith): string {
	switch (by) {
		case "model":
			return t("counts.model");
		case "estimate":
			return t("counts.estimate");
		case "tokenizer.json":
		case "o200k_base":
		case "cl100k_base":
			return t("counts.with", { name: by });
		default:
			return by satisfies never;
	}
}
