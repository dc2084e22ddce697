import { useEffect, type ReactNode } from 'react';
import { withDeviceItems } from '../budget/device-items.ts';
import { rememberBudgetName, type KnownBudget } from '../budget/known-budgets.ts';
import { useSettings } from '../settings/use-settings.ts';
import { hashOf } from './navigation.ts';

/** The name of the budget, or of the app if the budget has none. Stores the name for this device's list of budgets. */
export function Brand({ budget }: { readonly budget: KnownBudget }): ReactNode {
  const { name } = useSettings();
  useEffect(() => {
    if (name === '' || name === budget.name) return;
    withDeviceItems((items) => rememberBudgetName(items, budget, name)).catch(() => undefined);
  }, [budget, name]);
  return (
    <a className="brand" href={hashOf(budget)}>
      {name || 'Rockpool Budget'}
    </a>
  );
}
