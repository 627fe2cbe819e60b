/** Documents in frames. A frame runs no script: its sandbox allows only reading it from here, and the print dialog. */

const SANDBOX = "allow-same-origin allow-modals";

/** Shows an HTML document in an empty frame. The document is parsed here, because the page may load no other one. */
export function fill(frame: HTMLIFrameElement, html: string): void {
	const page = frame.contentDocument;
	if (!page) return;
	const parsed = new DOMParser().parseFromString(html, "text/html");
	page.replaceChild(page.adoptNode(parsed.documentElement), page.documentElement);
}

let printed: HTMLIFrameElement | null = null;

/** Opens the system's print dialog for an HTML document. */
export async function print(html: string, title: string): Promise<void> {
	printed?.remove();
	const frame = document.createElement("iframe");
	printed = frame;
	frame.setAttribute("sandbox", SANDBOX);
	frame.title = title;
	// A frame that is not displayed has no layout to print.
	frame.style.cssText = "position:fixed;inset-block-start:0;inset-inline-start:-300mm;width:210mm;height:297mm;border:0";
	frame.setAttribute("aria-hidden", "true");
	frame.tabIndex = -1;
	document.body.append(frame);
	fill(frame, html);
	const pictures = [...(frame.contentDocument?.images ?? [])];
	await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
	frame.contentWindow?.addEventListener("afterprint", () => frame.remove());
	frame.contentWindow?.print();
}

/** Removes the document that was printed last. Not every system says when its print dialog has closed. */
export function forgetPrinted(): void {
	printed?.remove();
	printed = null;
}
