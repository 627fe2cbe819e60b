/** Runs `seen` once when the node first becomes visible. */
export function whenSeen(seen: () => void): (node: HTMLElement) => () => void {
	return (node) => {
		const observer = new IntersectionObserver(([entry]) => {
			if (!entry?.isIntersecting) return;
			observer.disconnect();
			seen();
		});
		observer.observe(node);
		return () => observer.disconnect();
	};
}
