import { asApiError } from "../api/errors";
import type { ApiError, ChatId, QuickReply, QuickReplyForm, QuickReplyRun, QuickReplyScope, QuickReplySet, QuickReplySetSummary } from "../api/generated";
import type { Api } from "./api";
import { StoredState } from "./storedState.svelte";

/** The quick replies of a chat. The engine runs them. */
export class QuickReplies {
	/** The sets that the chat shows. */
	shown = $state.raw<QuickReplySet[]>([]);
	/** All sets, for the settings of the chat. */
	readonly sets: QuickReplySets;

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		failed: (error: ApiError) => void,
	) {
		this.sets = new QuickReplySets(api, chat, failed, () => this.load());
	}

	/** Buttons are an extra: without them the chat is shown as before. */
	load = async (): Promise<void> => {
		this.shown = (await this.api.quickReplies(this.chat).catch(() => null)) ?? [];
	};

	/** Loads the buttons of a chat that was opened, and runs those that run by themselves then. */
	async opened(): Promise<void> {
		await this.load();
		if (this.shown.length > 0) await this.api.runOpeningQuickReplies(this.chat).catch(() => null);
	}

	/** Runs a quick reply. Returns an error text if that failed. */
	async run(set: QuickReplySet, reply: QuickReply, typed: string): Promise<QuickReplyRun | string> {
		try {
			return await this.api.runQuickReply(this.chat, set.id, reply.index, typed);
		} catch (thrown) {
			const { message, hint } = { hint: "", ...asApiError(thrown) };
			return [message, hint].filter(Boolean).join(" ");
		}
	}
}

/** All sets of quick replies, and where they are shown. */
export class QuickReplySets extends StoredState<QuickReplySetSummary[]> {
	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		private readonly fault: (error: ApiError) => void,
		private readonly changed: () => void,
	) {
		super(() => api.quickReplySets(chat), fault);
	}

	bind(set: string, scope: QuickReplyScope, bound: boolean): Promise<unknown> {
		return this.send(() => this.api.bindQuickReplies(set, this.chat, scope, bound), this.changed);
	}

	allow(set: string, allowed: boolean): Promise<unknown> {
		return this.send(
			() => this.api.allowQuickReplies(set, allowed).then(() => this.api.quickReplySets(this.chat)),
			this.changed,
		);
	}

	/** The set for the editor; `null` after a failure, which is reported. */
	async form(set: string): Promise<QuickReplyForm | null> {
		try {
			return await this.api.quickReplyForm(set);
		} catch (thrown) {
			this.fault(asApiError(thrown));
			return null;
		}
	}

	/** Stores a set. A new one is shown in this chat. Throws what the engine refuses. */
	async save(form: QuickReplyForm): Promise<void> {
		const set = await this.api.saveQuickReplies(form);
		if (form.id === null) await this.bind(set, "chat", true);
		await this.load();
		this.changed();
	}

	remove(set: string): Promise<unknown> {
		return this.send(() => this.api.deleteQuickReplies(set).then(() => this.api.quickReplySets(this.chat)), this.changed);
	}
}
