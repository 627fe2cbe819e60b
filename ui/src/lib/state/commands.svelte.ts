import { asApiError } from "../api/errors";
import type { ChatId, CommandCompletion, CommandHelp, CommandOutcome, CommandRefusal, Picture } from "../api/generated";
import { t, type Key } from "../i18n/i18n.svelte";
import type { Api } from "./api";

/** Whether the engine should read the text as a command: only it knows which commands exist. */
export const maybeCommand = (draft: string): boolean => draft.trimStart().startsWith("/");

/** The answer of a command that is shown above the composer until the next input. */
export type CommandAnswer = { kind: "help"; commands: CommandHelp[] } | { kind: "text"; title: string; text: string; choices: string[] };

/** Completions and answers of slash commands. The engine runs them. */
export class Commands {
	completions = $state.raw<CommandCompletion[]>([]);
	answer = $state.raw<CommandAnswer | null>(null);
	#asked = 0;

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
	) {}

	/** Asks for completions of the draft. An answer to an older draft is dropped. */
	async complete(draft: string): Promise<void> {
		const asked = ++this.#asked;
		if (!draft.startsWith("/")) {
			this.completions = [];
			return;
		}
		const found = await this.api.completeCommand(this.chat, draft).catch(() => []);
		if (asked === this.#asked) this.completions = found;
	}

	clear(): void {
		this.answer = null;
	}

	/** Runs the draft. An error is a refusal too, because the text stays in the composer. */
	async run(draft: string, pictures: Picture[]): Promise<CommandOutcome | string> {
		try {
			return await this.api.runCommand(this.chat, draft, pictures);
		} catch (thrown) {
			const { message, hint } = { hint: "", ...asApiError(thrown) };
			return [message, hint].filter(Boolean).join(" ");
		}
	}
}

/** One line about a command of the engine. */
export const commandHelp = (name: string): string => t(`command.${name}` as Key);

/** One line that tells why a command was refused. */
export function refusalText({ code, command, value, near }: CommandRefusal): string {
	const names = near.map((name) => (code === "unknownCommand" ? `/${name}` : name)).join(", ");
	const text = t(`refused.${code}`, { command, value });
	return names === "" ? text : `${text} ${t("refused.near", { names })}`;
}

/** One line for a changed setting. */
export function settingText(setting: (CommandOutcome & { kind: "set" })["setting"], value: string): string {
	if (setting === "scene") return t("chat.sceneBegun");
	if (value === "") return t("commands.removed", { name: t(`commandSetting.${setting}`) });
	return t("commands.set", { name: t(`commandSetting.${setting}`), value });
}
