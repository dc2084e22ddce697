import { useId, type Dispatch, type ReactNode, type SetStateAction } from 'react';
import { formatMinor } from '../money/format.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { locale } from '../shell/locale.ts';
import { CategorySelect } from './category-select.tsx';
import { withTypedAmount, type DraftContext, type DraftFacts, type EntryDraft } from './entry-draft.ts';
import { PayeeList } from './payee-list.tsx';

export interface EntryFieldsetProps {
  readonly draft: EntryDraft;
  readonly facts: DraftFacts;
  readonly context: DraftContext;
  readonly categories: readonly CategoryRow[];
  readonly onChange: Dispatch<SetStateAction<EntryDraft>>;
  /** Called when the focus leaves a field on which suggestions depend. */
  readonly onFieldLeft: () => void;
}

/** The fields of an entry form, except its parts. The date, amount and direction of a reconciled entry are locked. */
export function EntryFieldset(props: EntryFieldsetProps): ReactNode {
  const { draft, facts, context, categories, onChange, onFieldLeft } = props;
  const set = (changed: Partial<EntryDraft>): void => onChange((last) => ({ ...last, ...changed }));
  const locked = context.entry?.locked === 1;
  return (
    <div className="fields">
      <label>
        Date
        <input
          type="date"
          value={draft.date}
          onChange={(event) => set({ date: event.target.value })}
          required
          disabled={locked}
        />
      </label>
      {draft.otherAccountId === null ? <PayeeField {...props} /> : <OtherAccountField {...props} />}
      {facts.takesCategory && (
        <label>
          Category
          <CategorySelect
            categories={categories}
            value={draft.categoryId}
            onChange={(categoryId) => set({ categoryId, categoryChosen: true })}
          />
        </label>
      )}
      <label>
        Amount in {context.account.currency}
        <input
          className="amount-input"
          value={draft.amount}
          onChange={(event) => onChange((last) => withTypedAmount(last, event.target.value))}
          onBlur={onFieldLeft}
          inputMode="decimal"
          autoComplete="off"
          disabled={locked}
        />
      </label>
      {facts.otherCurrency !== null && <OtherAmountField {...props} otherCurrency={facts.otherCurrency} />}
      <DirectionField {...props} />
      <label className="wide">
        Memo
        <textarea
          value={draft.notes}
          onChange={(event) => set({ notes: event.target.value })}
          onBlur={onFieldLeft}
          rows={draft.notes.includes('\n') ? 3 : 1}
        />
      </label>
    </div>
  );
}

function PayeeField({ draft, onChange, onFieldLeft }: EntryFieldsetProps): ReactNode {
  const id = useId();
  return (
    <label className="wide">
      Payee
      <input
        value={draft.payee}
        onChange={(event) => onChange((last) => ({ ...last, payee: event.target.value }))}
        onBlur={onFieldLeft}
        list={id}
        autoComplete="off"
        autoFocus
      />
      <PayeeList id={id} />
    </label>
  );
}

/** The other account of a transfer. A saved transfer keeps its account. */
function OtherAccountField({ draft, context: { entry, otherAccounts }, onChange }: EntryFieldsetProps): ReactNode {
  const isSavedTransfer = entry !== undefined && entry.otherAccountId !== null;
  return (
    <label className="wide">
      {draft.sign === -1 ? 'To account' : 'From account'}
      <select
        value={draft.otherAccountId ?? ''}
        onChange={(event) => onChange((last) => ({ ...last, otherAccountId: event.target.value }))}
        disabled={isSavedTransfer}
        autoFocus={!isSavedTransfer}
      >
        {otherAccounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The amount of a transfer in the other account's currency. */
function OtherAmountField({
  draft,
  otherCurrency,
  context: { entry },
  onChange,
}: EntryFieldsetProps & { readonly otherCurrency: string }): ReactNode {
  const savedMinor = entry?.otherMinor ?? null;
  return (
    <label>
      {draft.sign === -1 ? 'Amount received in' : 'Amount sent in'} {otherCurrency}
      <input
        className="amount-input"
        value={draft.otherAmount}
        placeholder={savedMinor === null ? '' : formatMinor(Math.abs(savedMinor), otherCurrency, locale)}
        onChange={(event) => onChange((last) => ({ ...last, otherAmount: event.target.value }))}
        inputMode="decimal"
        autoComplete="off"
        disabled={entry?.locked === 1}
      />
    </label>
  );
}

const directions = [
  [-1, 'Money out'],
  [1, 'Money in'],
] as const;

function DirectionField({ draft, context: { entry }, onChange }: EntryFieldsetProps): ReactNode {
  const name = useId();
  return (
    <fieldset className="direction" aria-label="Direction" disabled={entry?.locked === 1}>
      {directions.map(([sign, label]) => (
        <label key={sign}>
          <input
            type="radio"
            name={name}
            checked={draft.sign === sign}
            onChange={() => onChange((last) => ({ ...last, sign }))}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
