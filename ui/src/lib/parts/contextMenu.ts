/** Suppresses the web view's context menu in the desktop window, except for editing and copying text. */
export function keepContextMenu(event: MouseEvent): void {
	const target = event.target as Element | null;
	const edits = target?.closest("input, textarea, [contenteditable]") ?? null;
	if (edits === null && !isSelected(target)) event.preventDefault();
}

function isSelected(target: Element | null): boolean {
	const selection = getSelection();
	return target !== null && selection !== null && !selection.isCollapsed && selection.containsNode(target, true);
}
