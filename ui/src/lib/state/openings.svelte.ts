import type { Transport } from "../api/transport";

/** Files that other programs ask to import. Nothing is imported until the user agrees. */
export class Openings {
	paths = $state.raw<string[]>([]);

	constructor(private readonly shell: Transport) {}

	/** Follows the requests until the returned function is called. */
	start(): () => void {
		return this.shell.watchOpenings((paths) => (this.paths = paths));
	}

	/** Answers for the files that are shown. Files that arrive meanwhile are asked about again. */
	answer(accept: boolean): Promise<void> {
		const shown = this.paths.length;
		this.paths = [];
		return this.shell.answerOpenings(accept, shown);
	}
}
