/** The services for which `init --ci` writes a file, with its place and its text. */
export const CI_FILES = {
  github: {
    file: '.github/workflows/evaluate.yml',
    text: `name: Evaluate
on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  evaluate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-node@v6
        with:
          node-version: 24
          cache: npm
      - run: npm ci
      # The report of the commit on which a pull request is based, if that commit has been evaluated.
      - uses: actions/cache/restore@v5
        with:
          path: before.json
          key: evaluate-\${{ github.event.pull_request.base.sha }}
      # Replace node agent.js by the command that starts your agent.
      - run: npx agent-mailbox-mock evaluate scenarios --repeat 5 --require 0.8 --summary --json --html report.html -- node agent.js > report.json
      - if: always() && hashFiles('before.json') != '' && hashFiles('report.json') != ''
        run: npx agent-mailbox-mock evaluate compare before.json report.json --markdown >> "$GITHUB_STEP_SUMMARY"
      # A run that could not begin leaves an empty report, which must not be the base of later ones.
      - if: always() && github.event_name == 'push' && hashFiles('report.json') != ''
        run: if [ -s report.json ]; then cp report.json before.json; fi
      - if: always() && github.event_name == 'push' && hashFiles('before.json') != ''
        uses: actions/cache/save@v5
        with:
          path: before.json
          key: evaluate-\${{ github.sha }}
      - if: always()
        uses: actions/upload-artifact@v6
        with:
          name: evaluation
          path: report.*
`,
  },
  gitlab: {
    file: '.gitlab-ci.yml',
    text: `evaluate:
  image: node:24
  cache:
    key:
      files:
        - package-lock.json
    paths:
      - .npm/
  script:
    - npm ci --cache .npm --prefer-offline
    # Replace node agent.js by the command that starts your agent.
    - npx agent-mailbox-mock evaluate scenarios --repeat 5 --require 0.8 --json --junit junit.xml --html report.html -- node agent.js > report.json
  artifacts:
    when: always
    paths:
      - report.json
      - report.html
    reports:
      junit: junit.xml
`,
  },
} as const;
