import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { ColumnChart, type ChartColumn } from './column-chart.tsx';

const column = (id: string, minors: readonly bigint[], lineMinor?: bigint): ChartColumn => ({
  id,
  label: id,
  title: `Month ${id}`,
  bars: [minors.map((minor, index) => ({ id: `s${index}`, name: `Segment ${index}`, minor, colour: '--series-1' }))],
  summary: [{ name: 'Total', minor: minors.reduce((sum, minor) => sum + minor, 0n) }],
  ...(lineMinor === undefined ? {} : { lineMinor }),
});

function draw(columns: readonly ChartColumn[], chosenId: string | null = null): string {
  return renderToStaticMarkup(
    <ColumnChart label="Spending" currency="EUR" columns={columns} chosenId={chosenId} onChoose={() => undefined} />,
  );
}

describe('a column chart', () => {
  it('exposes each column’s figures to screen readers, and is one tab stop', () => {
    const html = draw([column('1', [100_00n, 50_00n]), column('2', [20_00n])], '1');
    expect(html).toContain('aria-label="Month 1, Total 150 EUR"');
    expect(html).toContain('aria-pressed="true"');
    expect(html.match(/tabindex="0"/g)).toHaveLength(1);
  });

  it('stacks positive segments up from zero and negative ones down', () => {
    const html = draw([column('1', [60_00n, -40_00n, 40_00n])]);
    const boxes = [...html.matchAll(/data-segment="s\d" style="inset-block-end:([\d.]+)%;block-size:([\d.]+)%/g)].map(
      ([, from, size]) => [Math.round(Number(from)), Math.round(Number(size))],
    );
    // From -50 to 100: zero is a third up.
    expect(boxes).toEqual([
      [33, 40],
      [7, 27],
      [73, 27],
    ]);
  });

  it('draws a line over the bars if the columns have line values', () => {
    expect(draw([column('1', [10_00n], 5_00n), column('2', [10_00n], 10_00n)])).toContain('points="0.25,0.5 0.75,0"');
    expect(draw([column('1', [10_00n])])).not.toContain('polyline');
  });
});
