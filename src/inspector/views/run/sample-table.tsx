import { linkTo } from '../../page-route.ts';
import { Chip } from '../../parts.tsx';
import { RESULTS, type Sample } from '../../samples.tsx';
import { createNameFinder, useScope } from '../../scope.ts';

/** The samples as a table: each with its result, and the tenant or the sandbox that got it. Breached ones come first. */
export function SampleTable({ samples }: { readonly samples: readonly Sample[] }) {
  const nameOf = createNameFinder(useScope());
  const order = Object.keys(RESULTS);
  const rows = samples.toSorted((one, other) => order.indexOf(one.result) - order.indexOf(other.result));
  return (
    <details class="sample-table">
      <summary class="small">As a table</summary>
      <table aria-label="Samples and their results">
        <thead>
          <tr>
            <th scope="col">Sample</th>
            <th scope="col">Result</th>
            <th scope="col">Tenant or sandbox</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, result, messages: [mail] }, index) => {
            const [tone, text] = RESULTS[result];
            return (
              <tr key={mail?.id ?? index}>
                <td>
                  {mail ? (
                    <a class="quiet-link" href={linkTo('mail', mail.id)}>
                      {name}
                    </a>
                  ) : (
                    name
                  )}
                </td>
                <td>
                  <Chip tone={tone} text={text} />
                </td>
                <td>
                  <bdi>{nameOf(mail?.tenantId) ?? mail?.tenantId}</bdi>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}
