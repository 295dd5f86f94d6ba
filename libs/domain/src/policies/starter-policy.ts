/** Enforced where an operator makes an organization: what its agents may do is for its admins to say. */
export const DEFAULT_DENY_POLICY = `# Everything is denied. Add a rule to allow something:
# every field and every condition stands in docs/policy-language.md.
version: 1
default: deny
`;

/** Of a deployment with the demo database: the connector `demo` is governed from its first call. */
const DEMO_RULES = `
  - id: demo-keeps-its-rows
    description: The demo database. DELETE, TRUNCATE and an UPDATE without WHERE destroy rows.
    match:
      tools:
        - demo.*
      side_effect: destructive
    decision: deny
    message: Agents delete no rows and change no whole table of the demo shop. Name the row by a WHERE, or ask an admin.

  - id: demo-changes
    description: A change of rows of the demo database waits until an owner or admin has looked at it.
    match:
      tools:
        - demo.*
      side_effect: write
    decision: require_approval
    approval:
      approvers:
        - role:admin
      expires_in: 1h
`;

const starterPolicy = (
  demoRules: string,
): string => `# The first rule that matches a call decides; what no rule matches is denied.
# Every field and every condition: docs/policy-language.md.
version: 1
default: deny
rules:${demoRules}
  - id: never-destroy
    description: Nothing is deleted or destroyed by an agent.
    match:
      side_effect: destructive
    decision: deny
    message: Destructive tools are off for agents. Ask an admin to do this by hand, or to allow it for this tool.

  - id: reads
    description: Reading changes nothing, so every agent may read through every connector.
    match:
      side_effect: read
    decision: allow

  # To let agents write, name the tool. A condition may look at the arguments:
  #
  # - id: small-notes
  #   match:
  #     tools:
  #       - notes.create
  #   when: size(args.text) <= 2000
  #   decision: allow
`;

/** Enforced by a first start: reads go through, nothing is destroyed, every write needs a rule of its own. */
export const STARTER_POLICY = starterPolicy('');

/** The same where the demo database is: a change of its rows waits for a person. */
export const STARTER_POLICY_WITH_DEMO = starterPolicy(DEMO_RULES);
