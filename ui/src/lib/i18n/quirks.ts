import type { Quirk } from "../api/generated";
import { t } from "./i18n.svelte";

/** The screen text of a quirk of an endpoint. */
export function quirkText(quirk: Quirk): string {
	switch (quirk.kind) {
		case "leavesOut":
			return t("quirk.leavesOut", { names: quirk.parameters.join(", ") });
		case "plainSampling":
			return t("quirk.plainSampling");
		case "completionTokens":
			return t("quirk.completionTokens");
		case "fewStops":
			return t("quirk.fewStops");
		case "thoughtsBack":
			return t("quirk.thoughtsBack");
		case "noPrefill":
			return t("quirk.noPrefill");
		case "strictRoles":
			return t("quirk.strictRoles");
		case "noSystem":
			return t("quirk.noSystem");
		default:
			return quirk satisfies never;
	}
}
