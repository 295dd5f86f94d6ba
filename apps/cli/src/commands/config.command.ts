import type { Command } from 'commander';
import { inspectSettings, type SettingReport } from '#libs/infra/config';
import { redactText } from '#libs/infra/logging';
import { EXIT } from '../cli-error.js';
import { withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { present } from '../terminal.js';

/** `ags config`: every setting there is, and what is wrong with the current ones. */
export const registerConfigCommand = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('config')
      .description(
        'Shows every setting, read from the environment: its value now, its default, and what it means. Passwords in ' +
          'URLs are not shown. Ends with 1 when the settings are not usable, and says everything that is wrong at once.',
      )
      .summary('show and check the settings')
      .option('--json', 'one JSON object a line: a setting each, at last the result')
      .action(({ json }: JsonOption) => {
        const settings = inspectSettings();
        const problems = settings.filter(({ problem }) => problem !== null);
        const result = { object: 'config', usable: problems.length === 0, problems: problems.map(problemOf) };
        present(context.terminal, json === true, {
          objects: [...settings.map(viewOf), result],
          text: textOf(settings, result.problems),
        });
        if (!result.usable) context.exitCode = EXIT.refused;
      }),
    'ags config',
    'SERVICE_ENV=production ags config --json',
  );
};

const problemOf = ({ variable, problem }: SettingReport): string => `${variable} ${problem ?? ''}`;

const viewOf = (setting: SettingReport) => ({
  object: 'setting',
  variable: setting.variable,
  value: shownValue(setting),
  is_set: setting.isSet,
  default: setting.default,
  description: setting.description,
  problem: setting.problem,
});

const textOf = (settings: readonly SettingReport[], problems: readonly string[]): string => {
  const blocks = settings.map((setting) => {
    const value = shownValue(setting) ?? '(none)';
    const origin = setting.isSet ? '' : '  (default)';
    return [`${setting.variable}=${value}${origin}`, `    ${setting.description}`].join('\n');
  });
  const verdict =
    problems.length === 0
      ? 'These settings are usable.'
      : ['These settings are not usable:', ...problems.map((problem) => `  ${problem}`)].join('\n');
  return [...blocks, '', verdict].join('\n');
};

const NOT_SHOWN = '[not shown]';

/** What may stand on a screen or in a ticket: never userinfo or the query of a URL, which may hold a password. */
const shownValue = ({ variable, value }: SettingReport): string | null => {
  if (value === null || value === undefined) return null;
  const text = Array.isArray(value) ? value.join(',') : String(value);
  if (!variable.endsWith('_URL')) return redactText(text);
  return text.includes('://') && URL.canParse(text) ? redactText(text.replace(/[?#].*$/s, '?[redacted]')) : NOT_SHOWN;
};
