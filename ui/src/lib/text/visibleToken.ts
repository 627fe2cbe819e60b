/** Text of a token with visible white space. */
export const visible = (text: string): string => text.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
