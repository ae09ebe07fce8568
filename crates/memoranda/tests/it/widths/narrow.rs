//! At 60 columns.

use expect_test::expect;

use super::transcript;

#[test]
fn outputs_at_60_columns() {
    expect![[r#"
        $ memoranda status
        vault          ~/memoranda
        config         ~/.config/memoranda/config.toml
        index          ~/.cache/memoranda/xxxxxxxxxxxxxxxx/index.db
        notes          5
        facts          1
        links          2 (1 to notes not written yet)
        history        x commits, xxxx bytes
        file edits     found by the next command
        search model   the built-in model

        PROJECT     NOTES  FOLDER
        main            3  ~/memoranda/main
        records         1  ~/memoranda/records
        work-notes      1  ~/…/Work Notes of the Infrastructure Team

        $ memoranda project
        PROJECT     NOTES  FOLDER
        main            3  ~/memoranda/main
        records         1  ~/memoranda/records
        work-notes      1  ~/…/Work Notes of the Infrastructure Team

        $ memoranda list
        TITLE                     PLACE                     CHANGED
        Garden and the irrigati…  main/                     just now
        Kitchen tap               main/                     just now
        Boiler warranty and mai…  …central-heating-system/  just now
        I prefer tabs over spac…  records/…/xxxxxxxx.md     just now
        Runbook                   work-notes/               just now

        $ memoranda log
        xxxxxxxx  just now  You  editor
          began to follow work-notes (1 file)
        xxxxxxxx  just now  You  remember
          added preference "I prefer tabs over spaces in every
          language but Python, where the formatter decides"
        xxxxxxxx  just now  You  add
          added main/Garden and the irrigation of the beans.md
        xxxxxxxx  just now  You  write_note
          added main/house/heating/central-heating-system/Boiler
          warranty and maintenance contract.md
        xxxxxxxx  just now  You  add
          added main/Kitchen tap.md

        $ memoranda search 'boiler warranty'
        Boiler warranty and maintenance contract
          main/house/heating/central-heating-system/Boiler warranty
          and maintenance contract.md:6  just now
          The warranty of the boiler lapses in March 2031 if the
          yearly maintenance is not recorded.

        $ memoranda recall 'boiler warranty'
        - The warranty of the boiler lapses in March 2031 if the
          yearly maintenance is not recorded.

          - [manual] The boiler is in https://example.org/manuals/
            of/the/heat-exchanger-of-the-boiler-2031.pdf
          (note · main/house/heating/central-heating-system/Boiler
          warranty and maintenance contract.md · just now · by You ·
          relevance 1.00)

        $ memoranda recall
        ## The Person
        - I prefer tabs over spaces in every language but Python,
          where the formatter decides
          (preference · id xxxxxxxx ·
          records/global/fact/xxxxxxxx.md · just now · by You)

        $ memoranda show 'Boiler warranty and maintenance contract' --info
        place      main/house/heating/central-heating-system/Boiler
                   warranty and maintenance contract.md
        title      Boiler warranty and maintenance contract
        permalink  house/heating/central-heating-system/
                   boiler-warranty-and-maintenance-contract
        type       note
        created    xxxx-xx-xx xx:xx
        updated    xxxx-xx-xx xx:xx
        size       425 bytes
        version    xxxxxxxx
        facts      1
        links      2 (1 to notes not written yet)

        $ memoranda show 'Boiler warranty and maintenance contract' --graph
        Boiler warranty and maintenance contract
        ├── depends_on ─▶ Kitchen tap  main/Kitchen tap.md
        └╌╌ see_also ╌▷ A note with a rather long title

        $ memoranda blame 'Kitchen tap'
        xxxxxxxx You       just now    1 The kitchen tap takes
                                         cartridge 46374, and the
                                         shop at the harbour has it
                                         in stock until the end of
                                         the year

        $ memoranda remember 'I like tea' --scope person
        Remembered as a preference of the person, everywhere (kind
        guessed).
        xxxxxxxx@xxxxxxxx · records/global/fact/xxxxxxxx.md · commit
        xxxxxxxxxxxx
        hint: `memoranda forget --id xxxxxxxx` takes it back

        $ memoranda forget 'spaces or tabs'
        This fits; nothing was deleted. To forget it:
        - I prefer tabs over spaces in every language but Python,
          where the formatter decides
          memoranda forget --id xxxxxxxx

        $ memoranda rm 'Garden and the irrigation of the beans'
        Deleted main/Garden and the irrigation of the beans.md
          (commit xxxxxxxx)
        hint: `memoranda restore 'main/Garden and the irrigation of
          the beans.md'` brings it back

        $ memoranda undo
        Undid xxxxxxxx: deleted main/Garden and the irrigation of
          the beans.md (commit xxxxxxxx)
        hint: `memoranda redo` reverses this; `memoranda undo` goes
          further back

        $ memoranda show 'Garden and the irrigation of the peas'
        error: there is no note "Garden and the irrigation of the
          peas" in any project; did you mean main/Garden and the
          irrigation of the beans.md?
        hint: `memoranda show 'main/Garden and the irrigation of the
          beans.md'`

        $ memoranda import --list
        SOURCE              READS
        basic-memory        a project folder; without a path, every
                            project in ~/.basic-memory/config.json
        obsidian            a vault; without a path, every vault
                            that Obsidian knows
        claude-code         its auto memory; without a path, that of
                            every project in ~/.claude
        claude              the data export of Claude: the zip, its
                            folder, or conversations.json
        chatgpt             the data export of ChatGPT: the zip, its
                            folder, or conversations.json
        mcp-memory          the file of the reference memory server:
                            JSON lines or JSON; a folder of
                            thread-<id>.jsonl
        memories-sh         its database or data folder, or its JSON
                            or YAML export; without a path,
                            ~/.config/memories/local.db
        memory-bank         its folder with global/, projects/ and
                            code/; without a path,
                            ~/.claude-desktop/memory
        mem0                its JSON export, or what get_all gives
        mcp-memory-service  its SQLite database or JSON export
        folder              any folder of files, or one file
        jsonl               what `memoranda export jsonl` wrote
        archive             what `memoranda export FILE.tar` wrote

        $ memoranda setup
        CLIENT  SERVER  HOOKS  ACTION   FILE
        cursor  no      no     connect  ~/.cursor/mcp.json
        gemini  no      no     connect  ~/.gemini/settings.json
        not here: claude-code, claude-desktop, vscode, codex, zed,
        windsurf, cline, goose, opencode, lm-studio
        hint: `memoranda setup cursor` shows the change and asks;
          `memoranda setup --yes` does all

        $ memoranda setup gemini --yes
        Wrote ~/.gemini/settings.json for Gemini CLI
        hint: Gemini CLI: start a new session; in a folder that
          Gemini CLI does not trust the server is disabled
          (`/permissions` trusts it); with `gemini -p` add
          `--allowed-mcp-server-names memoranda`, or its tools are
          left out

        $ memoranda doctor
        ok    Scanned 6 files: no changes
        ok    the history is whole: 8 commits
        ok    the records of each device follow each other
        ok    the files have what was written to them
        ok    the history has the text of every file
        ok    the index has every file as it is: 6 files
        ok    a rebuilt index is identical
        ok    search uses the built-in model
        ok    Gemini CLI starts this program
              (~/.gemini/settings.json)

    "#]]
    .assert_eq(&transcript(60));
}
