import type { CommandOutcome, Picture, QuickReply, QuickReplySet } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { ChatCallbacks } from "./callbacks";
import type { ChatState } from "./chat.svelte";
import { refusalText, settingText } from "./commands.svelte";

/** The parts of a chat that commands change. */
type Host = Pick<ChatState, "draft" | "commandFailure" | "attached" | "commands" | "quickReplies" | "mode" | "marks" | "type" | "impersonate" | "load" | "outdated">;

/** Runs commands and quick replies of a chat, and shows their results. */
export class ChatCommands {
	constructor(
		private readonly chat: Host,
		private readonly callbacks: ChatCallbacks,
	) {}

	/** Lets the engine send the draft or run its command. If it is refused, the text stays in the composer. */
	async run(draft: string, pictures: Picture[]): Promise<void> {
		if (draft.trim() === "/impersonate") {
			this.chat.type("");
			return this.chat.impersonate();
		}
		const outcome = await this.chat.commands.run(draft, pictures);
		if (typeof outcome === "string" || outcome.kind === "refused") {
			this.chat.commandFailure = typeof outcome === "string" ? outcome : refusalText(outcome.refusal);
			return;
		}
		this.clear(draft);
		await this.#apply(outcome, pictures);
	}

	/** Runs a quick reply. Returns whether it changed the text in the composer. */
	async runQuickReply(set: QuickReplySet, reply: QuickReply): Promise<boolean> {
		this.chat.commandFailure = "";
		if (reply.unsupported) {
			const { line, text } = reply.unsupported;
			this.chat.commands.answer = { kind: "text", title: t("quickReplies.unsupported", { label: reply.label, line }), text, choices: [] };
			return false;
		}
		const { draft } = this.chat;
		const run = await this.chat.quickReplies.run(set, reply, draft);
		if (typeof run === "string") this.chat.commandFailure = run;
		else {
			if (run.usedText) this.clear(draft);
			for (const outcome of run.outcomes) await this.#apply(outcome);
		}
		return this.chat.draft !== draft;
	}

	/** Shows the results of a quick reply that ran by itself. */
	async ranAlone(label: string, outcomes: CommandOutcome[]): Promise<void> {
		this.callbacks.announce(t("quickReplies.ran", { label }));
		for (const outcome of outcomes) await this.#apply(outcome);
	}

	/** Shows the result of a command. */
	async #apply(outcome: CommandOutcome, pictures: Picture[] = []): Promise<void> {
		if (outcome.kind === "refused") this.chat.commandFailure = refusalText(outcome.refusal);
		else if (outcome.kind === "started") {
			this.chat.outdated();
			if (outcome.started.sent) this.chat.attached.sent(pictures);
			await this.chat.load();
		} else if (outcome.kind === "added" || outcome.kind === "updated") await this.chat.load();
		else if (outcome.kind === "set") {
			this.callbacks.announce(settingText(outcome.setting, outcome.value));
			await Promise.all([this.chat.load(), this.chat.mode.load(), this.chat.marks.load()]);
		} else if (outcome.kind === "shown") {
			const { setting, value, choices } = outcome;
			this.chat.commands.answer = { kind: "text", title: t(`commandSetting.${setting}`), text: value, choices };
		} else if (outcome.kind === "help") this.chat.commands.answer = { kind: "help", commands: outcome.commands };
		else if (outcome.kind === "search") this.callbacks.search(outcome.text);
		else if (outcome.kind === "export") this.callbacks.exportChat(outcome.format);
		else if (outcome.kind === "insert") this.chat.type(outcome.text);
		else if (outcome.kind === "opened") {
			this.callbacks.announce(t("branch.made", { title: outcome.title }));
			this.callbacks.openChat(outcome.chat);
		}
		this.callbacks.promptChanged();
	}

	/** Removes the sent text from the composer. Text typed meanwhile stays. */
	clear(sent: string): void {
		if (this.chat.draft.startsWith(sent)) this.chat.type(this.chat.draft.slice(sent.length));
	}
}
