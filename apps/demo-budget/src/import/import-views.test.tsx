import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { guessFormats, readChosenFile, type FormatChoice } from './chosen-file.ts';
import { ImportSummary, type ImportSummaryProps } from './import-summary.tsx';
import { PreviewTable } from './preview-table.tsx';
import type { PreviewRow } from './rows/preview.ts';
import { StatementForm } from './statement-form.tsx';

const draft = {
  importKey: 'k',
  date: '2025-01-31',
  amountMinor: -350,
  payee: 'Coffee',
  notes: 'two\nlines',
  categoryName: '',
};
const sound: PreviewRow = {
  rowNumber: 2,
  cells: ['2025-01-31', 'Coffee', '-3.50'],
  draft,
  problems: [],
  duplicate: false,
  alike: null,
};
const troubled: PreviewRow = {
  rowNumber: 3,
  cells: ['soon', 'Rent', '-900'],
  draft: undefined,
  problems: [{ code: 'date-unreadable' }],
  duplicate: false,
  alike: null,
};

const choices = {
  columns: [{ column: 0, name: 'Date' }],
  skipped: new Set<number>(),
  kept: new Set<number>(),
  onSkip: () => {},
  onKeep: () => {},
  onCorrect: () => {},
  ruledWords: () => '',
};

describe('the preview', () => {
  it('lists rows with problems first, in file order, each with its problem', () => {
    const html = renderToStaticMarkup(<PreviewTable rows={[sound, troubled]} currency="EUR" {...choices} />);
    expect(html.indexOf('soon · Rent · -900')).toBeGreaterThan(0);
    expect(html.indexOf('soon · Rent · -900')).toBeLessThan(html.indexOf('Coffee'));
    expect(html).toContain('The date does not match the chosen date order.');
    expect(html).toContain('aria-label="Skip row 3"');
  });

  it('marks rows that the ledger already has', () => {
    const html = renderToStaticMarkup(
      <PreviewTable rows={[{ ...sound, duplicate: true }]} currency="EUR" {...choices} />,
    );
    expect(html).toContain('Already there');
    expect(html).not.toContain('Skip row');
  });

  it('leaves out possible duplicates, shows the similar entry, and offers to import them anyway', () => {
    const html = renderToStaticMarkup(
      <PreviewTable
        rows={[
          {
            ...sound,
            alike: { id: 'e', date: '2025-01-30', payee: 'Coffee house', amountMinor: -350, importKey: null },
          },
        ]}
        currency="EUR"
        {...choices}
      />,
    );
    expect(html).toContain('Possible duplicate of Coffee house');
    expect(html).toContain('aria-label="Import row 2 anyway"');
    expect(html).toContain('class="skipped"');
  });

  it('describes what rules change in a row, and nothing for unchanged rows', () => {
    expect(
      renderToStaticMarkup(
        <PreviewTable
          rows={[sound]}
          currency="EUR"
          {...choices}
          ruledWords={({ payee }) => `${payee} house · Eating out`}
        />,
      ),
    ).toContain('By your rules: Coffee house · Eating out');
    expect(renderToStaticMarkup(<PreviewTable rows={[sound]} currency="EUR" {...choices} />)).not.toContain(
      'By your rules',
    );
  });

  it('renders file contents as text, never as markup', () => {
    const html = renderToStaticMarkup(
      <PreviewTable
        rows={[{ ...sound, draft: { ...draft, payee: '<img src=x onerror=alert(1)>' } }]}
        currency="EUR"
        {...choices}
      />,
    );
    expect(html).not.toContain('<img');
  });
});

describe('the form of a statement', () => {
  it('asks for the decimal mark of a QIF file whose amounts are valid with either mark', async () => {
    const text = '!Type:Bank\nD31/01/2025\nT-1.500\nPCoffee\n^\n';
    const chosen = await readChosenFile('statement.qif', new Blob([text]));
    if (!chosen.ok) throw new Error(chosen.problem.code);
    const form = (formats: FormatChoice): string =>
      renderToStaticMarkup(
        <StatementForm
          file={chosen.value}
          formats={formats}
          onEncoding={() => {}}
          onFile={() => {}}
          onFormats={() => {}}
        />,
      );
    const formats = guessFormats(chosen.value);
    expect(form(formats)).toContain('Choose the decimal mark.');
    const answered = form({ ...formats, decimalMark: 'point', decimalMarkOpen: false });
    expect(answered).not.toContain('Choose the decimal mark.');
    expect(answered).toContain('<option value="point" selected="">');
  });
});

describe('the summary of an import', () => {
  const nothing = (): void => {};
  const props: ImportSummaryProps = {
    complete: true,
    open: false,
    plan: null,
    onSkipTroubled: nothing,
    onImport: nothing,
    onCancel: nothing,
  };

  it('counts new, existing and skipped rows', () => {
    const html = renderToStaticMarkup(
      <ImportSummary
        {...props}
        plan={{ ok: true, value: { entries: [draft], duplicateCount: 2, alikeCount: 1, skippedCount: 1 } }}
      />,
    );
    expect(html).toContain('1 new entry, 2 already imported, 1 possible duplicate, 1 skipped.');
    expect(html).toContain('Import 1 entry');
    expect(html).not.toContain('disabled');
  });

  it('reports that nothing is new', () => {
    const html = renderToStaticMarkup(
      <ImportSummary
        {...props}
        plan={{ ok: true, value: { entries: [], duplicateCount: 2000, alikeCount: 0, skippedCount: 0 } }}
      />,
    );
    expect(html).toContain('Nothing new: all 2,000 rows are already imported.');
    expect(html).toContain('disabled=""');
  });

  it('offers to skip rows with problems, and imports nothing until then', () => {
    const html = renderToStaticMarkup(
      <ImportSummary {...props} plan={{ ok: false, problem: { code: 'plan-unresolved', rowNumbers: [3, 4] } }} />,
    );
    expect(html).toContain('Skip these 2 rows');
    expect(html).toContain('disabled=""');
  });

  it('waits until the user has answered every question', () => {
    const html = renderToStaticMarkup(
      <ImportSummary
        {...props}
        open
        plan={{ ok: true, value: { entries: [draft], duplicateCount: 0, alikeCount: 0, skippedCount: 0 } }}
      />,
    );
    expect(html).toContain('disabled=""');
  });
});
