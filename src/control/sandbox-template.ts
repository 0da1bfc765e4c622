import type { BehaviourValues } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import { FixtureError } from '../fixture/fixture-error.ts';
import { type Fixture, parseFixture } from '../fixture/parse-fixture.ts';
import { createTemplate, type TenantTemplate } from '../store/tenant-template.ts';

/** Returns what creates the template of a fixture. It keeps the latest, because most sandboxes have the same fixture. */
export function createTemplateReader(mailboxFixture: Fixture, behaviours: BehaviourValues) {
  let ofMailbox: TenantTemplate | undefined;
  let latest: { readonly text: string; readonly template: TenantTemplate } | undefined;
  return (fixture: unknown): TenantTemplate => {
    if (fixture === undefined) {
      ofMailbox ??= templateOfFirst(mailboxFixture);
      return ofMailbox;
    }
    const text = toJson(fixture);
    if (latest?.text !== text) latest = { text, template: templateOfOnly(parseOrExplain(fixture, behaviours)) };
    return latest.template;
  };
}

function toJson(fixture: unknown): string {
  try {
    return JSON.stringify(fixture);
  } catch {
    throw new ApiError('VALIDATION_ERROR', 'The fixture is not valid: it has a value that JSON cannot represent.');
  }
}

function templateOfFirst(fixture: Fixture): TenantTemplate {
  const [first] = Object.entries(fixture.tenants);
  if (first) return createTemplate(fixture, ...first);
  throw new ApiError('VALIDATION_ERROR', 'The fixture of the mailbox has no tenant to copy; give one in fixture.');
}

function templateOfOnly(fixture: Fixture): TenantTemplate {
  const [only, ...others] = Object.entries(fixture.tenants);
  if (only && others.length === 0) return createTemplate(fixture, ...only);
  const count = Object.keys(fixture.tenants).length;
  throw new ApiError('VALIDATION_ERROR', `The fixture of a sandbox must have one tenant, not ${count}.`);
}

/** The maximum number of problems of a fixture that an error lists. */
const MAX_NAMED = 5;

function parseOrExplain(fixture: unknown, behaviours: BehaviourValues): Fixture {
  try {
    return parseFixture(fixture, behaviours);
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    const problems = error.problems.slice(0, MAX_NAMED).map(({ path, message }) => `${path} ${message}`);
    throw new ApiError('VALIDATION_ERROR', `The fixture is not valid: ${problems.join('; ')}.`);
  }
}
