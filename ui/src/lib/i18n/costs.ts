import type { Figures } from "../api/generated";
import { number, percent, seconds } from "./format";
import { t } from "./i18n.svelte";

/** The fraction of the prompt tokens that were cached; `null` if unknown. */
export function reusedShare({ prompt, reused }: Pick<Figures, "prompt" | "reused">): number | null {
	return prompt && reused !== null ? reused / prompt : null;
}

/** Short texts about the cost of a call: prompt tokens, cached share, and the time to the first token. */
export function costs(figures: Figures): string[] {
	const { prompt, firstTextMs } = figures;
	const share = reusedShare(figures);
	return [
		prompt === null ? "" : t("figures.tokens", { count: prompt, shown: number(prompt) }),
		share === null ? "" : t("figures.reused", { percent: percent(share) }),
		firstTextMs === null ? "" : seconds(firstTextMs),
	].filter(Boolean);
}
