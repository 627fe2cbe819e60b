import { language, t } from "../i18n/i18n.svelte";
import { escape } from "../text/markdown";

/** A page with the recovery code, for printing. */
export function recoverySheet(code: string, made: Date): string {
	const date = made.toLocaleDateString(language(), { dateStyle: "long" });
	const groups = code.split("-").map((group) => `<span>${escape(group)}</span>`);
	const lines = [t("sheet.made", { date }), t("sheet.how"), t("sheet.keep")];
	return `<!doctype html><html lang="${escape(language())}"><head><title>${escape(t("sheet.title"))}</title><style>${STYLE}</style></head><body><h1>${escape(t("sheet.title"))}</h1><p class="code">${groups.join(" ")}</p>${lines.map((line) => `<p>${escape(line)}</p>`).join("")}</body></html>`;
}

const STYLE = "body{margin:25mm;color:#000;background:#fff;font:12pt/1.5 sans-serif}h1{font-size:18pt}.code{font:16pt/1.8 monospace}.code span{display:inline-block;margin-right:8mm}";
