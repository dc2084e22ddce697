import type { ReactNode } from 'react';
import type { CategoryRow } from '../queries/categories.ts';

export interface CategorySelectProps {
  readonly categories: readonly CategoryRow[];
  readonly value: string | null;
  readonly onChange: (categoryId: string | null) => void;
  /** For screen readers, if there is no visible label. */
  readonly label?: string;
}

/** Selects a category or none. A hidden category is offered only if it is the current choice. */
export function CategorySelect({ categories, value, onChange, label }: CategorySelectProps): ReactNode {
  const offered = categories.filter((category) => category.hidden === 0 || category.id === value);
  const known = value === null || categories.some((category) => category.id === value);
  return (
    <select
      className={value === null ? 'category none' : 'category'}
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value === '' ? null : event.target.value)}
    >
      <option value="">No category</option>
      {!known && <option value={value}>Unknown category</option>}
      {[...Map.groupBy(offered, headingOf)].map(([heading, members]) => (
        <optgroup key={heading} label={heading}>
          {members.map(categoryOption)}
        </optgroup>
      ))}
    </select>
  );
}

/** The group, or the kind of categories that have none. */
function headingOf({ groupName, kind }: CategoryRow): string {
  return groupName || (kind === 'spending' ? 'Spending' : 'Income');
}

function categoryOption(category: CategoryRow): ReactNode {
  return (
    <option key={category.id} value={category.id}>
      {category.name}
    </option>
  );
}
