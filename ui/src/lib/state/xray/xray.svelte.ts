import { asApiError } from "../../api/errors";
import type { ApiError, Ask, PromptReport, PromptStage } from "../../api/generated";
import type { Api } from "../api";
import { Later } from "../later";
import { BlockList } from "./blocks.svelte";
import { Comparison } from "./comparison.svelte";
import { Stages } from "./stages.svelte";
import { Trial } from "./trial.svelte";
import { PastTurns } from "./turns.svelte";

/** The prompt looked at: the next one, as the composer stands, that of a job beside the chat, or that of a reply. */
export type Subject = { of: "next"; chat: string } | { of: "ask"; chat: string; ask: Ask } | { of: "reply"; chat: string; swipe: string };

export const TABS = ["blocks", "stages", "raw", "diff", "whatIf"] as const;
export type Tab = (typeof TABS)[number];

/** The X-ray: one prompt, block by block. It draws what the engine says and knows nothing of prompts. */
export class Xray {
	open = $state(false);
	/** Shown as a page of its own, with the list of past turns, in place of the panel. */
	wide = $state(false);
	tab = $state<Tab>("blocks");
	subject = $state.raw<Subject | null>(null);
	report = $state.raw<PromptReport | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** A newer report is on its way; the one shown is the last. */
	reading = $state(false);
	trial = $state.raw<Trial | null>(null);
	turns = $state.raw<PastTurns | null>(null);
	readonly blocks = new BlockList(() => this.report?.blocks ?? []);
	readonly comparison: Comparison;
	readonly stages: Stages;

	#text = "";
	#later = new Later();
	#asked = 0;

	constructor(private readonly api: Api) {
		this.comparison = new Comparison(api);
		this.stages = new Stages(api);
	}

	/** The prompt that `text` would send. */
	next(chat: string, text: string): Promise<void> {
		this.#text = text;
		return this.#show({ of: "next", chat });
	}

	/** The prompt of a job beside the chat, as it would be now. */
	ask(chat: string, ask: Ask): Promise<void> {
		return this.#show({ of: "ask", chat, ask });
	}

	/** The prompt that a reply answered. */
	reply(chat: string, swipe: string): Promise<void> {
		return this.#show({ of: "reply", chat, swipe });
	}

	/** Opens the list of past turns beside the prompt. */
	widen(chat: string): void {
		[this.open, this.wide] = [true, true];
		if (this.turns?.chat === chat) return;
		this.turns = new PastTurns(this.api, chat);
		void this.turns.older();
	}

	narrow = (): void => {
		this.wide = false;
	};

	/** The composer, the model or the chat have changed: the next prompt will be another. */
	follow(text: string): void {
		this.#text = text;
		this.trial?.follow(text);
		if (this.open && this.subject?.of === "next") this.#later.run(this.again);
	}

	/** A turn has ended: the list of past turns begins anew. */
	turned(chat: string): void {
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

	again = (): void => {
		void this.#load();
		if (this.subject && this.subject.of !== "reply") this.#compare(this.subject);
	};

	close = (): void => {
		[this.open, this.wide, this.tab] = [false, false, "blocks"];
		this.#later.cancel();
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

	/** Of two that are asked for, the later one is shown. */
	async #load(): Promise<void> {
		const { subject } = this;
		if (!subject) return;
		this.#later.cancel();
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

	/** What the open tab compares. */
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
