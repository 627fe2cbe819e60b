import { asApiError } from "../api/errors";
import type { ApiError, ChatId, Mode } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";

/** The mode of a chat, and all available modes. */
export class ModeChoice {
	all = $state.raw<Mode[]>([]);
	/** The value of the setting; `auto` if the user chose none. */
	chosen = $state("auto");
	readonly name = $derived(this.chosen === "auto" ? "default" : this.chosen);

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		private readonly failed: (error: ApiError) => void,
	) {}

	load = async (): Promise<void> => {
		try {
			const owner = { scope: "chat", id: this.chat } as const;
			const [all, layered] = await Promise.all([this.api.listModes(), this.api.layeredSettings(owner)]);
			this.all = all;
			this.chosen = String(layered.settings.find(({ key }) => key === "mode")?.value ?? "auto");
		} catch (thrown) {
			this.failed(asApiError(thrown));
		}
	};

	/** Sets the mode. Returns an error text that lists the available modes; empty on success. */
	async set(name: string): Promise<string> {
		const mode = this.all.find((known) => known.name.toLocaleLowerCase() === name.toLocaleLowerCase());
		if (!mode) return t("mode.unknown", { name, names: this.all.map((known) => known.name).join(", ") });
		try {
			await this.api.setSetting({ scope: "chat", id: this.chat }, "mode", mode.name);
			this.chosen = mode.name;
			return "";
		} catch (thrown) {
			return asApiError(thrown).message;
		}
	}
}
