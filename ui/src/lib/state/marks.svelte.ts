import { asApiError } from "../api/errors";
import type { ApiError, ChatId, ChatMarks, Message, MessageId, Rating, SwipeId } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { Api } from "./api";

/** The parts of a chat that its marks need. */
export interface MarksHost {
	failed(error: ApiError): void;
	undoable(text: string, undo: () => Promise<void>): void;
	announce(text: string): void;
	promptChanged(): void;
	reload(): Promise<void>;
}

const NONE: ChatMarks = { origin: null, branches: [], checkpoints: [], edited: [], ratings: [], tokenSwipes: [] };

/** Branches, checkpoints and ratings of a chat, and the changes of several of its messages. */
export class Marks {
	all = $state.raw<ChatMarks>(NONE);
	/** The message whose checkpoint is being named. */
	naming = $state.raw<Message | null>(null);
	/** The message whose earlier texts are shown. */
	history = $state.raw<Message | null>(null);

	/** The message whose token probabilities are shown. */
	tokens = $state.raw<Message | null>(null);

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
		private readonly host: MarksHost,
	) {}

	/** Marks are an extra: without them the chat is shown as before. */
	async load(): Promise<void> {
		this.all = (await this.api.chatMarks(this.chat).catch(() => null)) ?? NONE;
	}

	checkpoint = (message: MessageId): string | null => this.all.checkpoints.find((mark) => mark.message === message)?.name ?? null;

	branchesAt = (message: MessageId) => this.all.branches.filter((branch) => branch.message === message);

	isEdited = (message: MessageId): boolean => this.all.edited.includes(message);

	hasTokens = (swipe: SwipeId): boolean => this.all.tokenSwipes.includes(swipe);

	rating = (swipe: SwipeId): Rating | null => this.all.ratings.find((rated) => rated.swipe === swipe)?.rating ?? null;

	async setCheckpoint(message: MessageId, name: string | null): Promise<void> {
		const marks = await this.#do(() => this.api.setCheckpoint(message, name));
		if (marks) this.all = marks;
	}

	async rate(swipe: SwipeId, rating: Rating | null): Promise<void> {
		await this.#do(() => this.api.rateSwipe(swipe, rating));
		await this.load();
	}

	/** Returns the id of the new chat; `null` if it could not be made. */
	async branch(message: MessageId, swipe: number | null = null, title: string | null = null): Promise<string | null> {
		const chat = await this.#do(() => this.api.branchChat(message, swipe, title));
		if (chat) this.host.announce(t("branch.made", { title: chat.title }));
		await this.load();
		return chat?.id ?? null;
	}

	async split(message: MessageId): Promise<string | null> {
		const made = await this.#do(() => this.api.splitChat(message));
		if (!made) return null;
		this.host.undoable(t("branch.splitDone", { title: made.chat.title }), async () => {
			await this.#do(() => this.api.deleteChat(made.chat.id));
			await this.#do(() => this.api.restoreMessages(made.moved));
			await this.#changed();
		});
		await this.#changed();
		return made.chat.id;
	}

	/** Appends the messages of another chat, which moves to the trash. */
	async join(other: string): Promise<void> {
		const made = await this.#do(() => this.api.joinChats(this.chat, other));
		if (!made) return;
		this.host.undoable(t("join.done", { count: made.added.length }), async () => {
			const first = made.added[0];
			if (first !== undefined) await this.#do(() => this.api.deleteFrom(first));
			await this.#do(() => this.api.restoreChat(made.joined));
			await this.#changed();
		});
		await this.#changed();
	}

	async deleteFrom(message: MessageId): Promise<void> {
		const gone = await this.#do(() => this.api.deleteFrom(message));
		if (!gone) return;
		await this.#changed();
		this.host.undoable(t("branch.deletedFrom", { count: gone.length }), async () => {
			await this.#do(() => this.api.restoreMessages(gone));
			await this.#changed();
		});
	}

	/** Hides the messages from `first` through `last`, or sends them again. */
	async hide(first: string, last: string, hidden: boolean): Promise<void> {
		const changed = await this.#do(() => this.api.hideRange(first, last, hidden));
		if (!changed || changed.length === 0) return;
		await this.#changed();
		this.host.undoable(t(hidden ? "branch.hid" : "branch.unhid", { count: changed.length }), async () => {
			await this.#do(() => this.api.hideMessages(changed, !hidden));
			await this.#changed();
		});
	}

	async move(message: MessageId, down: boolean): Promise<void> {
		await this.#do(() => this.api.moveMessage(message, down));
		await this.#changed();
	}

	async #changed(): Promise<void> {
		this.host.promptChanged();
		await this.host.reload();
	}

	async #do<T>(call: () => Promise<T>): Promise<T | null> {
		try {
			return await call();
		} catch (thrown) {
			this.host.failed(asApiError(thrown));
			return null;
		}
	}
}
