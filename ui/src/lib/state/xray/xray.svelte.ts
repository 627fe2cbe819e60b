import { asApiError } from "../../api/errors";
import type { ApiError, Ask, ChatId, PromptReport, PromptStage, SwipeId } from "../../api/generated";
import type { Api } from "../api";
import { Debounce } from "../debounce";
import { BlockList } from "./blocks.svelte";
import { Comparison } from "./comparison.svelte";
import { Stages } from "./stages.svelte";
import { Trial } from "./trial.svelte";
import { PastTurns } from "./turns.svelte";

/** The prompt to show: the next one with the text in the composer, one of a job such as a title, or one of a reply. */
export type Subject = { of: "next"; chat: ChatId } | { of: "ask"; chat: ChatId; ask: Ask } | { of: "reply"; chat: ChatId; swipe: SwipeId };

export const TABS = ["blocks", "stages", "raw", "diff", "whatIf"] as const;
export type Tab = (typeof TABS)[number];

/** State of the X-ray, which shows one prompt block by block. All data comes from the engine. */
export class Xray {
	open = $state(false);
	/** Shown as a full page with the list of past turns, instead of as a panel. */
	wide = $state(false);
	tab = $state<Tab>("blocks");
	subject = $state.raw<Subject | null>(null);
	report = $state.raw<PromptReport | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** A newer report is loading while the last one is shown. */
	reading = $state(false);
	trial = $state.raw<Trial | null>(null);
	turns = $state.raw<PastTurns | null>(null);
	readonly blocks = new BlockList(() => this.report?.blocks ?? []);
	readonly comparison: Comparison;
	readonly stages: Stages;

	#text = "";
	#debounce = new Debounce();
	#asked = 0;

	constructor(private readonly api: Api) {
		this.comparison = new Comparison(api);
		this.stages = new Stages(api);
	}

	/** Shows the prompt that `text` would send. */
	next(chat: ChatId, text: string): Promise<void> {
		this.#text = text;
		return this.#show({ of: "next", chat });
	}

	/** Shows the prompt that a job of the chat, such as a title, would send now. */
	ask(chat: ChatId, ask: Ask): Promise<void> {
		return this.#show({ of: "ask", chat, ask });
	}

	/** Shows the prompt of a reply. */
	reply(chat: ChatId, swipe: SwipeId): Promise<void> {
		return this.#show({ of: "reply", chat, swipe });
	}

	/** Opens the full page with the list of past turns. */
	widen(chat: ChatId): void {
		[this.open, this.wide] = [true, true];
		if (this.turns?.chat === chat) return;
		this.turns = new PastTurns(this.api, chat);
		void this.turns.older();
	}

	narrow = (): void => {
		this.wide = false;
	};

	/** Handles a change of the composer, the model or the chat, which changes the next prompt. */
	follow(text: string): void {
		this.#text = text;
		this.trial?.follow(text);
		if (this.open && this.subject?.of === "next") this.#debounce.run(this.reload);
	}

	/** Handles the end of a turn: the list of past turns reloads. */
	turned(chat: ChatId): void {
		if (this.turns?.chat !== chat) return;
		this.turns = null;
		if (this.wide) this.widen(chat);
	}

	choose(tab: Tab): void {
		this.tab = tab;
		const { subject } = this;
		if (!subject) return;
		this.#compare(subject);
		if (tab === "whatIf" && this.trial?.chat !== subject.chat) {
			this.trial = new Trial(this.api, subject.chat, this.#text);
			void this.trial.load();
		}
	}

	chooseStage(stage: PromptStage): void {
		this.stages.stage = stage;
		if (this.subject) this.#compare(this.subject);
	}

	reload = (): void => {
		void this.#load();
		if (this.subject && this.subject.of !== "reply") this.#compare(this.subject);
	};

	close = (): void => {
		[this.open, this.wide, this.tab] = [false, false, "blocks"];
		this.#debounce.cancel();
		this.trial?.close();
		[this.trial, this.turns] = [null, null];
	};

	async #show(subject: Subject): Promise<void> {
		this.open = true;
		this.subject = subject;
		[this.report, this.failure] = [null, null];
		this.blocks.reset();
		if (this.trial?.chat !== subject.chat) this.trial = null;
		this.choose(this.tab);
		await this.#load();
	}

	/** Loads the report. Only the result of the latest request is used. */
	async #load(): Promise<void> {
		const { subject } = this;
		if (!subject) return;
		this.#debounce.cancel();
		const asked = ++this.#asked;
		this.reading = true;
		try {
			const report = await this.#ask(subject);
			if (asked === this.#asked) [this.report, this.failure] = [report, null];
		} catch (thrown) {
			if (asked === this.#asked) [this.report, this.failure] = [null, asApiError(thrown)];
		}
		if (asked === this.#asked) this.reading = false;
	}

	/** Loads the comparison of the open tab. */
	#compare(subject: Subject): void {
		if (this.tab === "diff") void (subject.of === "reply" ? this.comparison.reply(subject.swipe) : this.comparison.next(subject.chat, this.#text));
		if (this.tab === "stages") void this.#stage(subject);
	}

	#stage(subject: Subject): Promise<void> {
		if (subject.of === "reply") return this.stages.reply(subject.swipe);
		return subject.of === "ask" ? this.stages.next(subject.chat, "", subject.ask) : this.stages.next(subject.chat, this.#text, null);
	}

	#ask(subject: Subject): Promise<PromptReport> {
		if (subject.of === "ask") return this.api.previewPrompt(subject.chat, "", { ask: subject.ask });
		return subject.of === "next" ? this.api.previewPrompt(subject.chat, this.#text, {}) : this.api.manifest(subject.swipe);
	}
}
