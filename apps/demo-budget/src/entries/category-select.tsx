import type { ReactNode } from 'react';
import type { CategoryRow } from '../queries/categories.ts';

export interface CategorySelectProps {
  readonly categories: readonly CategoryRow[];
  readonly value: string | null;
  readonly onChange: (categoryId: string | null) => void;
  /** For screen readers, if there is no visible label. */
  readonly label?: string;
}

/** Selects a category, or none. A hidden category is offered only if it is the current choice. */
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
      <optgroup label="Spending">
        {offered.filter((category) => category.kind === 'spending').map(categoryOption)}
      </optgroup>
      <optgroup label="Income">{offered.filter((category) => category.kind === 'income').map(categoryOption)}</optgroup>
    </select>
  );
}

function categoryOption(category: CategoryRow): ReactNode {
  return (
    <option key={category.id} value={category.id}>
      {category.name}
    </option>
  );
}
