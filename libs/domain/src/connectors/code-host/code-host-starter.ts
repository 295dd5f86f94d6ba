/** A policy to begin with; {name} is the connector's. */
export const CODE_HOST_STARTER = `version: 1
default: deny
rules:
  - id: code-reads
    description: Reading changes nothing.
    match:
      tools:
        - {name}.*
      side_effect:
        - read
    decision: allow
  - id: code-proposals
    description: Agents propose; protected branches stay as they are.
    match:
      tools:
        - {name}.create_issue
        - {name}.create_comment
        - {name}.create_branch
        - {name}.put_file
        - {name}.create_pull_request
    decision: allow
  - id: code-changes
    description: A merge, a deletion and every other change waits for a person.
    match:
      tools:
        - {name}.*
    decision: require_approval
    approval:
      approvers:
        - role:admin
      expires_in: 1h
`;
