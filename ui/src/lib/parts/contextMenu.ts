/** Keeps the web view's own menu away in the desktop window, but where it edits or copies text. */
export function keepContextMenu(event: MouseEvent): void {
	const target = event.target as Element | null;
	const edits = target?.closest("input, textarea, [contenteditable]") ?? null;
	if (edits === null && !isSelected(target)) event.preventDefault();
}

function isSelected(target: Element | null): boolean {
	const selection = getSelection();
	return target !== null && selection !== null && !selection.isCollapsed && selection.containsNode(target, true);
}
