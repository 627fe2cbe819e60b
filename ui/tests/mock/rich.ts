/** Messages with Markdown, LaTeX and several scripts. */
export const RICH: string[] = [
	`# The lamps of the hill town
## North side
### By the mill

*She counts them off on her fingers, and the rain goes on.*

| Lamp | Keeper | Burns until | Oil for a night | What it tells |
|:-----|:------:|------------:|-----------------|---------------|
| Baker's door | Wilhelmina Featherstonehaugh | 23:40 | 0.3 l | that somebody is awake and would rather not be asked why |
| Mill | — | never | 0 | unreadable-since-autumn |

- [x] trim the wicks
- [ ] fill the big lamp
- [ ] ask about the mill

1. one
5. five

2023. A year.`,
	`Here is how I keep the list:

\`\`\`python
def burning(lamps: list[Lamp], hour: int = 22) -> list[str]:
    """Names of the lamps that still burn."""
    return [lamp.name for lamp in lamps if lamp.until > hour]  # a very long comment that makes the line scroll sideways in its box
\`\`\`

The oil of a night is

$$ V = \\sum_{i=1}^{n} \\frac{r_i \\, t_i}{\\eta} \\qquad \\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} $$

with \\(\\eta \\approx 0.8\\), so about $5 a week or $$10 in winter. See [the ledger](https://example.org/Ledger/2023?Lamp=Mill) or https://example.org/A/B. Inline \`code\` too.

> “A lamp is a promise,” she says.
> And a debt.

*This thought goes on

over two paragraphs.*`,
	`שלום, *hello* and **שלום** again.

- first
  - inside
    - deeper`,
	`${">".repeat(3000)} too deep

After it, *everything* is as before.`,
];
