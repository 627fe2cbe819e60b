import type { Event, ImportProgress, ImportReport, ImportStage } from "../../src/lib/api/generated";

const TOTAL = 2574;

/** A SillyTavern folder import that a scene or a test advances step by step. */
export class MockFolder {
	#progress: ImportProgress | null = null;

	constructor(readonly emit: (event: Event) => void) {}

	begin(): void {
		this.reach(0, "looking");
	}

	reach(done: number, stage: ImportStage): void {
		this.#progress = { done, total: stage === "looking" ? 0 : TOTAL, stage };
		this.emit({ event: "importing", progress: this.#progress });
	}

	end(cancelled = false): void {
		this.#progress = null;
		const imported = [...Array(1280).keys()].map((at) => ({ kind: "character", id: `f${at}`, name: `Keeper ${at + 1}`, file: `Keeper ${at + 1}.png`, warnings: [] }));
		const report: ImportReport = {
			imported,
			skipped: [
				{ id: "c1", file: "Mira.png", reason: "Mira is already in the library" },
				{ id: "", file: "themes", reason: "48 files skipped: themes of SillyTavern are not supported" },
			],
			refused: [{ file: "night.jsonl", kind: "noCharacter", reason: "there is no character \"Nobody\" in the library; import the card first" }],
			cancelled,
		};
		this.emit({ event: "importEnded", report });
	}

	op_import_progress = (): ImportProgress | null => this.#progress;

	op_cancel_import = (): void => this.end(true);
}
