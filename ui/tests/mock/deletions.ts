/** What was deleted and can be restored. */
export class MockDeletions {
	#all: { undo: () => void; id: string }[] = [];

	has(id: string): boolean {
		return this.#all.some((gone) => gone.id === id);
	}

	restore(id: string): void {
		const at = this.#all.findLastIndex((gone) => gone.id === id);
		this.#all.splice(at, 1)[0]?.undo();
	}

	/** Deletes an item. `undoMore` restores what was deleted with it. */
	delete<T extends { id: string }>(list: T[], id: string, undoMore = () => {}): void {
		const at = list.findIndex((item) => item.id === id);
		const [gone] = list.splice(at, 1);
		if (!gone) return;
		const undo = () => {
			list.splice(at, 0, gone);
			undoMore();
		};
		this.#all.push({ id, undo });
	}
}
